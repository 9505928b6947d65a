//! A program's standard output or error: kept up to a limit, the rest counted and dropped.
//!
//! Invariant: never more than the limit is held in memory, and the program never waits
//! because of it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::model::{Captured, Event, EventSink};

/// Bytes read from a program at once.
const CHUNK: usize = 32 << 10;

/// Which of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Where one stream of one call ends.
#[derive(Clone)]
pub struct Capture {
    shared: Arc<Shared>,
}

struct Shared {
    stream: Stream,
    limit: usize,
    events: Option<EventSink>,
    captured: Mutex<Captured>,
}

impl Capture {
    /// Keeps the first `limit` bytes, and tells `events` about these as they come.
    pub fn new(stream: Stream, limit: u64, events: Option<EventSink>) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let captured = Mutex::new(Captured::default());
        Self {
            shared: Arc::new(Shared {
                stream,
                limit,
                events,
                captured,
            }),
        }
    }

    /// Takes what was kept.
    pub fn take(&self) -> Captured {
        std::mem::take(
            &mut self
                .shared
                .captured
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Keeps what there is room for, and counts the rest.
    pub fn accept(&self, bytes: &[u8]) {
        let kept = {
            let mut captured = self
                .shared
                .captured
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let room = self.shared.limit.saturating_sub(captured.bytes.len());
            let kept = &bytes[..bytes.len().min(room)];
            captured.bytes.extend_from_slice(kept);
            captured.dropped += (bytes.len() - kept.len()) as u64;
            kept
        };
        if let Some(events) = &self.shared.events
            && !kept.is_empty()
        {
            events(match self.shared.stream {
                Stream::Stdout => Event::Stdout(kept),
                Stream::Stderr => Event::Stderr(kept),
            });
        }
    }

    /// Reads to the end of a stream. An error while reading is its end.
    pub async fn drain(&self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = stream.read(&mut chunk).await {
            self.accept(&chunk[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_is_read_to_its_end_and_kept_up_to_the_limit() {
        let written = vec![7_u8; CHUNK * 3 + 1];
        let capture = Capture::new(Stream::Stdout, 10, None);
        capture.drain(written.as_slice()).await;
        let captured = capture.take();
        assert_eq!(captured.bytes, [7; 10]);
        assert_eq!(captured.dropped, written.len() as u64 - 10);
    }
}

//! A program's standard output or error: kept up to a limit, the rest counted and dropped.
//!
//! Invariant: never more than the limit is held in memory, and the program never waits
//! because of it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{Captured, Event, EventSink};

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_kept_up_to_the_limit_and_the_rest_counted() {
        let capture = Capture::new(Stream::Stdout, 10, None);
        for chunk in [&[7_u8; 6][..], &[8; 6], &[9; 6]] {
            capture.accept(chunk);
        }
        let captured = capture.take();
        assert_eq!(captured.bytes, [7, 7, 7, 7, 7, 7, 8, 8, 8, 8]);
        assert_eq!(captured.dropped, 8);
    }
}

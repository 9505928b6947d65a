//! A guest's standard output and error: kept up to a limit, the rest counted and dropped.
//!
//! Invariant: a write never waits and never allocates past the limit, so a guest that
//! prints for ever costs time only.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::model::{Captured, Event, EventSink};

/// Bytes that a guest may hand over in one write.
const PERMIT: usize = 64 << 10;

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

    fn accept(&self, bytes: &[u8]) {
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

impl IsTerminal for Capture {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Capture {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Capture {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.accept(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[async_trait::async_trait]
impl Pollable for Capture {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Capture {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.accept(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

//! The memory for what clients ask and for what they are answered, of all of them together.
//!
//! Invariants: a request holds its share until it was answered and the answer was taken. The
//! two have budgets of their own: who holds a share of the one may wait for the other, and
//! never the other way round.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Extensions;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of requests that are held at one time.
const REQUESTS: usize = 128 << 20;
/// Bytes of answers that are held at one time.
const ANSWERS: usize = 256 << 20;
/// Bytes of an answer that are not counted: connections have buffers of that size, too.
const SMALL: u64 = 16 << 10;
/// An answer is in memory as values and as text.
const COPIES: u64 = 2;

/// What is free of both budgets.
pub(super) struct Memory {
    requests: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

/// The share of one request. Whoever keeps a part of it keeps this.
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<Shares>);

#[derive(Debug)]
struct Shares {
    _request: OwnedSemaphorePermit,
    answer: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Memory {
    /// All of it is free.
    pub fn new() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(REQUESTS)),
            answers: Arc::new(Semaphore::new(ANSWERS)),
        }
    }

    /// Waits for the share of a request.
    pub async fn request(&self, bytes: usize) -> io::Result<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes.min(REQUESTS)).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.requests).acquire_many_owned(bytes).await;
        share.map_err(io::Error::other)
    }

    /// The share of a part of a request, if it is free.
    pub fn request_now(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Arc::clone(&self.requests)
            .try_acquire_many_owned(bytes)
            .ok()
    }

    /// Waits for the share of an answer, which its request holds from then on.
    pub async fn answer(&self, held: &Held, bytes: u64) {
        if bytes <= SMALL {
            return;
        }
        let bytes = bytes.saturating_mul(COPIES).min(ANSWERS as u64);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Ok(share) = Arc::clone(&self.answers).acquire_many_owned(bytes).await {
            let mut answer = held.0.answer.lock().unwrap_or_else(PoisonError::into_inner);
            *answer = Some(share);
        }
    }
}

impl Held {
    /// Holds the share of a request.
    pub fn new(request: OwnedSemaphorePermit) -> Self {
        Self(Arc::new(Shares {
            _request: request,
            answer: Mutex::default(),
        }))
    }

    /// What a request holds, over whichever transport it came.
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Self>().or_else(|| {
            let parts = extensions.get::<axum::http::request::Parts>();
            parts.and_then(|parts| parts.extensions.get::<Self>())
        })
    }
}

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
/// Bytes of an answer that are not counted: connections have buffers of that size, too.
const SMALL: u64 = 16 << 10;
/// An answer is in memory as values and as text.
const COPIES: u64 = 2;

/// What is free of both budgets.
pub(super) struct Memory {
    requests: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    /// All of it.
    most_of_answers: u32,
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
    /// All is free, so many bytes of it for answers.
    pub fn new(answers: usize) -> Self {
        let most_of_answers = u32::try_from(answers).unwrap_or(u32::MAX >> 3);
        Self {
            requests: Arc::new(Semaphore::new(REQUESTS)),
            answers: Arc::new(Semaphore::new(most_of_answers as usize)),
            most_of_answers,
        }
    }

    /// Bytes of answers that are held.
    pub fn of_answers(&self) -> usize {
        (self.most_of_answers as usize).saturating_sub(self.answers.available_permits())
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
        let bytes = bytes.saturating_mul(COPIES);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bytes = bytes.min(self.most_of_answers);
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

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    async fn held(memory: &Memory) -> Held {
        Held::new(memory.request(1).await.unwrap())
    }

    #[tokio::test]
    async fn an_answer_waits_until_others_were_taken() {
        let memory = Memory::new(1 << 20);
        let (one, two, three) = (
            held(&memory).await,
            held(&memory).await,
            held(&memory).await,
        );
        memory.answer(&one, 300_000).await;
        assert_eq!(memory.of_answers(), 600_000);
        let kept = one.clone();
        let mut second = Box::pin(memory.answer(&two, 300_000));
        assert!((&mut second).now_or_never().is_none());
        // Small ones do not wait.
        memory.answer(&three, SMALL).await;
        drop(one);
        assert!((&mut second).now_or_never().is_none());
        drop(kept);
        second.await;
        assert_eq!(memory.of_answers(), 600_000);
        drop(two);
        // One that is larger than all there is has all of it to itself.
        memory.answer(&three, 1 << 40).await;
        assert_eq!(memory.of_answers(), 1 << 20);
        drop(three);
        assert_eq!(memory.of_answers(), 0);
    }

    #[tokio::test]
    async fn requests_wait_for_each_other_and_not_for_answers() {
        let memory = Memory::new(1 << 20);
        let all = memory.request(usize::MAX).await.unwrap();
        assert!(memory.request_now(1).is_none());
        let held = Held::new(all);
        memory.answer(&held, 1 << 20).await;
        drop(held);
        assert!(memory.request_now(REQUESTS).is_some());
    }
}

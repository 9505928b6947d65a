//! Calls that stand alone, answered without the library.
//!
//! Invariant: each is answered once, unless its client cancelled it; all have ended before
//! the output is closed.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use rmcp::model::{RequestId, ServerJsonRpcMessage};
use tokio::io::AsyncWrite;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::Server;
use super::super::alone::Alone;
use super::super::memory::Held;
use super::output::Output;
use crate::dispatch::Rest;

/// Calls of one client.
pub(super) struct Own<W> {
    server: Arc<Server>,
    output: Arc<Output<W>>,
    /// Those that were not answered where they were read.
    open: Arc<Mutex<HashMap<RequestId, Open>>>,
    /// Numbers of calls: an id may be used again while the call still ends that had it.
    next: u64,
    /// For the next call. Only one that goes on by itself can be cancelled; the others leave
    /// it as it was.
    cancel: CancellationToken,
    tasks: TaskTracker,
}

/// A call that is not answered.
struct Open {
    number: u64,
    cancel: CancellationToken,
}

/// That a client is gone is no fault, and it is known where it matters.
fn given(sent: io::Result<()>) {
    if let Err(error) = sent {
        tracing::debug!(%error, "an answer could not be given");
    }
}

fn locked(open: &Mutex<HashMap<RequestId, Open>>) -> MutexGuard<'_, HashMap<RequestId, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: AsyncWrite + Send + Unpin + 'static> Own<W> {
    pub fn new(server: Arc<Server>, output: Arc<Output<W>>) -> Self {
        Self {
            cancel: server.last.child_token(),
            server,
            output,
            open: Arc::default(),
            next: 0,
            tasks: TaskTracker::new(),
        }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        locked(&self.open).len()
    }

    /// Whether one with this id is open.
    pub fn has(&self, id: &RequestId) -> bool {
        locked(&self.open).contains_key(id)
    }

    /// Answers a call: where it is read, if there is nothing else to do, and else beside
    /// everything else.
    pub async fn answer(&mut self, call: Alone, is_alone: bool) {
        let (id, held) = (call.id.clone(), call.held.clone());
        let mut answer = Box::pin(call.answer(Arc::clone(&self.server), self.cancel.clone()));
        if is_alone && let Poll::Ready(answered) = futures::poll!(&mut answer) {
            return self.give(answered, held);
        }
        let number = self.next;
        self.next += 1;
        let cancel = std::mem::replace(&mut self.cancel, self.server.last.child_token());
        locked(&self.open).insert(id.clone(), Open { number, cancel });
        let (output, open) = (Arc::clone(&self.output), Arc::clone(&self.open));
        self.tasks.spawn(async move {
            let (message, rest) = answer.await;
            let is_wanted = {
                let mut open = locked(&open);
                let is_wanted = open.get(&id).is_some_and(|open| open.number == number);
                is_wanted && open.remove(&id).is_some()
            };
            if is_wanted {
                given(output.send(&message).await);
            }
            // The client need not wait for this.
            drop((held, rest));
        });
    }

    /// Gives an answer that is there already.
    fn give(&self, (message, rest): (ServerJsonRpcMessage, Rest), held: Held) {
        if let Some(sent) = self.output.send_at_once(&message) {
            given(sent);
        } else {
            let output = Arc::clone(&self.output);
            self.tasks.spawn(async move {
                given(output.sent().await);
                drop(held);
            });
        }
        drop(rest);
    }

    /// Ends the call with this id, which is not answered any more.
    pub fn cancel(&self, id: &RequestId) {
        let ended = locked(&self.open).remove(id);
        if let Some(open) = ended {
            open.cancel.cancel();
        }
    }

    /// Waits until all have ended.
    pub async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

//! Calls that stand alone, answered without the library.
//!
//! Invariant: each is answered once, unless its client cancelled it; all have ended before
//! the output is closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use rmcp::model::RequestId;
use tokio::io::AsyncWrite;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::Server;
use super::super::alone::{Alone, begin};
use super::output::Output;

/// Calls of one client.
pub(super) struct Own<W> {
    server: Arc<Server>,
    output: Arc<Output<W>>,
    open: Arc<Mutex<HashMap<RequestId, Open>>>,
    /// Numbers of calls: an id may be used again while the call still ends that had it.
    next: u64,
    tasks: TaskTracker,
}

/// A call that is not answered.
struct Open {
    number: u64,
    cancel: CancellationToken,
}

fn locked(open: &Mutex<HashMap<RequestId, Open>>) -> MutexGuard<'_, HashMap<RequestId, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: AsyncWrite + Send + Unpin + 'static> Own<W> {
    pub fn new(server: Arc<Server>, output: Arc<Output<W>>) -> Self {
        Self {
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
        let answered = self.answered(call);
        if is_alone {
            begin(answered).await;
        } else {
            tokio::spawn(answered);
        }
    }

    fn answered(&mut self, call: Alone) -> BoxFuture<'static, ()> {
        let cancel = self.server.last.child_token();
        let (number, id) = (self.next, call.id.clone());
        self.next += 1;
        let opened = Open {
            number,
            cancel: cancel.clone(),
        };
        locked(&self.open).insert(id.clone(), opened);
        let (server, output) = (Arc::clone(&self.server), Arc::clone(&self.output));
        let open = Arc::clone(&self.open);
        let held = call.held.clone();
        let answered = async move {
            let (message, rest) = call.answer(server, cancel).await;
            let is_wanted = {
                let mut open = locked(&open);
                let is_wanted = open.get(&id).is_some_and(|open| open.number == number);
                is_wanted && open.remove(&id).is_some()
            };
            if is_wanted && let Err(error) = output.send(&message).await {
                // That a client is gone is no fault, and it is known where it matters.
                tracing::debug!(%error, "an answer could not be given");
            }
            // The client need not wait for this.
            drop((held, rest));
        };
        Box::pin(self.tasks.track_future(answered))
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

//! Telling clients that their list of tools is old: those of sessions, and those that
//! subscribed.
//!
//! Invariant: each client is told by a task of its own, so that one that does not listen
//! keeps no other from hearing.

use std::sync::Arc;

use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Server;
use crate::host::Host;
use crate::reload::Change;

/// What changes, for one client.
struct News {
    changes: watch::Receiver<Arc<Change>>,
    /// The number of the snapshot that was seen last.
    seen: u64,
}

impl News {
    /// All that comes from now on.
    fn of(host: &Host) -> Self {
        let mut changes = host.changes();
        let seen = changes.borrow_and_update().snapshot;
        Self { changes, seen }
    }

    /// Waits for a snapshot with other tools; `false`: there will be none.
    async fn next(&mut self) -> bool {
        while self.changes.changed().await.is_ok() {
            let change = self.changes.borrow_and_update();
            // Nobody knows what those changed that were missed.
            let was_next = change.snapshot <= self.seen + 1;
            self.seen = change.snapshot;
            if change.changes_tools() || !was_next {
                return true;
            }
        }
        false
    }
}

/// Tells one session of each snapshot that changes the tools, until it is `gone`.
pub(super) fn follow(server: &Server, peer: Peer<RoleServer>, gone: CancellationToken) {
    let mut news = News::of(&server.host);
    tokio::spawn(gone.run_until_cancelled_owned(async move {
        while news.next().await {
            // Who can not be told asks again, or is gone.
            if peer.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }));
}

/// Tells one subscriber, until it has heard enough.
pub(super) async fn listen(server: &Server, subscription: &SubscriptionContext) {
    let mut news = News::of(&server.host);
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            is_news = news.next() => {
                if !is_news || subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

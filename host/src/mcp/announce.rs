//! Telling clients that their list of tools is old: those of sessions, and those that
//! subscribed.

use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::future::join_all;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::time::timeout;

use super::Server;

/// How long one client may take to hear of a change. One that is gone takes for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// The clients that began a session.
#[derive(Default)]
pub(super) struct Audience(Mutex<Vec<Peer<RoleServer>>>);

impl Audience {
    /// One more.
    pub fn welcome(&self, peer: Peer<RoleServer>) {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.push(peer);
    }

    fn present(&self) -> Vec<Peer<RoleServer>> {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|peer| !peer.is_transport_closed());
        peers.clone()
    }
}

/// Tells all sessions of each snapshot that changes the tools, until the server is gone.
pub(super) async fn announce(server: Weak<Server>) {
    let Some(mut changes) = server.upgrade().map(|server| server.host.changes()) else {
        return;
    };
    while changes.changed().await.is_ok() {
        let is_news = changes.borrow_and_update().changes_tools();
        let Some(server) = server.upgrade() else {
            return;
        };
        if !is_news {
            continue;
        }
        let told = server
            .audience
            .present()
            .into_iter()
            .map(|peer| async move {
                // Who can not be told asks again, or is gone.
                let _ = timeout(PATIENCE, peer.notify_tool_list_changed()).await;
            });
        join_all(told).await;
    }
}

/// Tells one subscriber, until it has heard enough.
pub(super) async fn listen(server: &Server, subscription: &SubscriptionContext) {
    let mut changes = server.host.changes();
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            heard = changes.changed() => {
                if heard.is_err() {
                    return;
                }
            }
        }
        let is_news = changes.borrow_and_update().changes_tools();
        if is_news
            && subscription
                .sink()
                .notify_tool_list_changed()
                .await
                .is_err()
        {
            return;
        }
    }
}

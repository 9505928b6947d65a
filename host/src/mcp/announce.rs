//! Telling clients that what they were offered is old: those of sessions, and those that
//! subscribed.
//!
//! Invariants: a list is news once, and only when a client that asks again gets another one.
//! Each client is told by a task of its own, so that one that does not listen keeps no other
//! from hearing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::Server;
use super::offers::{ListedFile, Offers};
use crate::reload::Change;

/// News that wait for a slow client; one that misses some asks for everything again.
pub(super) const BACKLOG: usize = 64;
/// Files that one client may follow.
const MAX_FOLLOWED: usize = 256;

/// What is not as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct News {
    pub tools: bool,
    pub resources: bool,
    pub prompts: bool,
    /// Addresses of files that changed.
    pub updated: BTreeSet<String>,
}

/// The files that a session follows, by address.
#[derive(Default)]
pub(super) struct Followed(Mutex<BTreeSet<String>>);

impl Followed {
    /// One more.
    pub fn add(&self, uri: String) -> Result<(), ErrorData> {
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if followed.len() >= MAX_FOLLOWED && !followed.contains(&uri) {
            let text = format!("a session can follow {MAX_FOLLOWED} resources and not more");
            return Err(ErrorData::invalid_params(text, None));
        }
        followed.insert(uri);
        Ok(())
    }

    /// One less.
    pub fn remove(&self, uri: &str) {
        let mut followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        followed.remove(uri);
    }

    fn all(&self) -> BTreeSet<String> {
        let followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        followed.clone()
    }

    fn among(&self, updated: &BTreeSet<String>) -> Vec<String> {
        let followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        followed.intersection(updated).cloned().collect()
    }
}

/// The files that a subscriber may follow of those that it asks for.
pub(super) fn followed(requested: &SubscriptionFilter) -> Vec<String> {
    let asked = requested.resource_subscriptions.iter().flatten();
    asked.take(MAX_FOLLOWED).cloned().collect()
}

impl Server {
    /// Tells all clients.
    fn tell(&self, news: News) {
        if news.any() {
            // Nobody may be there.
            let _ = self.news.send(Arc::new(news));
        }
    }
}

/// Tells one session what is new, until it is `gone`.
pub(super) fn follow(
    server: &Server,
    peer: Peer<RoleServer>,
    followed: Arc<Followed>,
    gone: CancellationToken,
) {
    let mut heard = server.news.subscribe();
    tokio::spawn(gone.run_until_cancelled_owned(async move {
        while let Some(news) = next(&mut heard, || followed.all()).await {
            // Who can not be told asks again, or is gone.
            if tell_session(&peer, &followed, &news).await.is_err() {
                return;
            }
        }
    }));
}

/// Waits for news; `None`: there will be none. Who missed some hears that all is new.
async fn next(
    heard: &mut broadcast::Receiver<Arc<News>>,
    followed: impl FnOnce() -> BTreeSet<String>,
) -> Option<Arc<News>> {
    match heard.recv().await {
        Ok(news) => Some(news),
        Err(RecvError::Closed) => None,
        Err(RecvError::Lagged(_)) => Some(Arc::new(News {
            tools: true,
            resources: true,
            prompts: true,
            updated: followed(),
        })),
    }
}

async fn tell_session(
    peer: &Peer<RoleServer>,
    followed: &Followed,
    news: &News,
) -> Result<(), ServiceError> {
    if news.tools {
        peer.notify_tool_list_changed().await?;
    }
    if news.resources {
        peer.notify_resource_list_changed().await?;
    }
    if news.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    for uri in followed.among(&news.updated) {
        let told = ResourceUpdatedNotificationParam::new(uri);
        peer.notify_resource_updated(told).await?;
    }
    Ok(())
}

impl News {
    fn any(&self) -> bool {
        self.tools || self.resources || self.prompts || !self.updated.is_empty()
    }
}

/// Tells all clients of a server what is new, until the server is gone.
pub(super) struct Announcer {
    server: Weak<Server>,
    changes: watch::Receiver<Arc<Change>>,
    configs: watch::Receiver<()>,
    /// What clients were told of.
    told: Arc<Offers>,
    /// The files that they were told of; `None`: nobody has looked yet.
    files: Option<BTreeMap<String, ListedFile>>,
}

impl Announcer {
    /// Begins to listen: what changes from now on is news.
    pub fn new(server: &Arc<Server>) -> Self {
        let (changes, configs) = (server.host.changes(), server.host.config_changes());
        Self {
            server: Arc::downgrade(server),
            changes,
            configs,
            told: server.offers(),
            files: None,
        }
    }

    pub async fn announce(mut self) {
        loop {
            let Some(server) = self.server.upgrade() else {
                return;
            };
            // Files may be slow, and keep nothing else back.
            let (lists, answers) = self.look_at_lists(&server);
            server.tell(lists);
            let files = self.look_at_files(&server, answers).await;
            server.tell(files);
            let pause = server.host.config().runtime.reload.poll.value;
            let looks = server.follows_files() && self.told.resources.has_files();
            drop(server);
            let next = async {
                if looks {
                    tokio::time::sleep(pause).await;
                } else {
                    std::future::pending::<()>().await;
                }
            };
            let heard = tokio::select! {
                heard = self.changes.changed() => heard,
                heard = self.configs.changed() => heard,
                () = next => Ok(()),
            };
            if heard.is_err() {
                return;
            }
        }
    }

    /// Lists that are not as clients were told, and whether that of resources is not, as far
    /// as it has no files.
    fn look_at_lists(&mut self, server: &Server) -> (News, bool) {
        self.changes.mark_unchanged();
        self.configs.mark_unchanged();
        let offers = server.offers();
        let (now, told) = (&offers.resources, &self.told.resources);
        let answers =
            now.listed_answers() != told.listed_answers() || now.templates() != told.templates();
        let news = News {
            tools: !offers.listing.is_as(&self.told.listing),
            prompts: offers.prompts.listed != self.told.prompts.listed,
            ..News::default()
        };
        self.told = offers;
        (news, answers)
    }

    /// Files that are not as clients were told, and the list of resources.
    async fn look_at_files(&mut self, server: &Server, answers: bool) -> News {
        let mut news = News {
            resources: answers,
            ..News::default()
        };
        let resources = Arc::clone(&self.told.resources);
        let found = if resources.has_files() {
            server.look(move || resources.files()).await.ok()
        } else {
            Some(BTreeMap::new())
        };
        // What can not be looked at is as it was.
        let Some(found) = found else {
            return news;
        };
        if let Some(known) = self.files.replace(found) {
            let found = self.files.iter().flatten();
            let mut same = 0;
            for (uri, file) in found {
                let before = known.get(uri);
                if before.is_none_or(|before| before.stamp != file.stamp) {
                    news.updated.insert(uri.clone());
                }
                // The list has its size, and words of the configuration.
                news.resources |= before.is_none_or(|before| before.listed != file.listed);
                same += usize::from(before.is_some());
            }
            if same < known.len() {
                news.resources = true;
                let is_gone = |uri: &&String| !self.has_file(uri);
                news.updated.extend(known.keys().filter(is_gone).cloned());
            }
        }
        news
    }

    fn has_file(&self, uri: &str) -> bool {
        self.files
            .as_ref()
            .is_some_and(|files| files.contains_key(uri))
    }
}

/// Tells one subscriber, until it has heard enough.
pub(super) async fn listen(server: &Server, subscription: &SubscriptionContext) {
    let mut heard = server.news.subscribe();
    let all = || followed(subscription.accepted()).into_iter().collect();
    loop {
        let news = tokio::select! {
            () = subscription.cancelled() => return,
            news = next(&mut heard, all) => news,
        };
        let Some(news) = news else {
            return;
        };
        if tell(subscription, &news).await.is_err() {
            return;
        }
    }
}

async fn tell(
    subscription: &SubscriptionContext,
    news: &News,
) -> Result<(), SubscriptionSendError> {
    let (accepted, sink) = (subscription.accepted(), subscription.sink());
    let wants = |wanted: Option<bool>| wanted == Some(true);
    if news.tools && wants(accepted.tools_list_changed) {
        sink.notify_tool_list_changed().await?;
    }
    if news.resources && wants(accepted.resources_list_changed) {
        sink.notify_resource_list_changed().await?;
    }
    if news.prompts && wants(accepted.prompts_list_changed) {
        sink.notify_prompt_list_changed().await?;
    }
    for uri in followed(accepted) {
        if news.updated.contains(&uri) {
            sink.notify_resource_updated(uri).await?;
        }
    }
    Ok(())
}

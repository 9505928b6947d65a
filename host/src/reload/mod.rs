//! Hot reload: a running host follows its modules and its configuration.
//!
//! Something changes → [`settle`] → [`reconcile`] looks at everything and makes the next
//! snapshot → subscribers hear of a [`Change`]. Events only say that there is something to
//! look at, so losing them costs time and nothing else.

mod change;
mod config_file;
mod folders;
mod reconcile;
mod settle;
mod watcher;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use change::Change;
pub(crate) use reconcile::{Reconciled, Reconciler};

use self::folders::Folders;
use self::settle::settle;
use self::watcher::Watcher;
use crate::config::{Reload, ReloadMethod};
use crate::host::{Host, WeakHost};
use crate::presence::keep;
use crate::registry::Patience;

/// How long a look waits for modules that are being loaded: what is ready earlier is not
/// kept back by one that takes minutes.
const LOADING: Duration = Duration::from_millis(200);

/// How often everything is looked at although no event told to: events are lost with
/// mounts that come and go.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// A host that follows its files, until this is dropped.
#[must_use = "the host stops following its files when this is dropped"]
pub struct Watching {
    _end: DropGuard,
}

/// Begins to follow the files of a host. One that is `seen` tells others what it serves.
pub(crate) fn watch(host: WeakHost, seen: bool) -> Watching {
    let end = CancellationToken::new();
    let ended = end.clone();
    if seen {
        tokio::spawn(end.clone().run_until_cancelled_owned(keep(host.clone())));
    }
    tokio::spawn(async move {
        let Some(signal) = host.upgrade().map(Host::signal) else {
            return;
        };
        let follower = Follower {
            host,
            changes: signal.await,
            watcher: None,
            complained: false,
        };
        ended.run_until_cancelled_owned(follower.run()).await;
    });
    Watching {
        _end: end.drop_guard(),
    }
}

/// Follows the files of one host.
struct Follower {
    host: WeakHost,
    changes: Arc<Notify>,
    /// `None`: there are no events.
    watcher: Option<Watcher>,
    /// Whether the log knows that there are no events.
    complained: bool,
}

impl Follower {
    async fn run(mut self) {
        // Whatever changed between opening the host and now.
        let mut next = Duration::ZERO;
        loop {
            let changed = tokio::time::timeout(next, self.changes.notified()).await;
            let Some(settings) = self.settings() else {
                return;
            };
            if changed.is_ok() {
                settle(&self.changes, settings.settle.value).await;
            }
            let Some(again) = self.look(&settings).await else {
                return;
            };
            next = again;
        }
    }

    /// `None`: the host is gone.
    fn settings(&self) -> Option<Reload> {
        let host = self.host.upgrade()?;
        Some(host.config().runtime.reload.clone())
    }

    /// Brings the host up to date; answers when to do so again at the latest.
    async fn look(&mut self, settings: &Reload) -> Option<Duration> {
        if settings.method.value == ReloadMethod::Off {
            self.watcher = None;
            // What was there at the start and is being compiled would never be served.
            if !self.host.upgrade()?.snapshot().is_loading() {
                return Some(HEARTBEAT);
            }
        }
        let patience = Patience {
            away: settings.settle.value,
            loading: Some(LOADING),
        };
        self.follow(settings).await?;
        let mut again = self.host.upgrade()?.reconcile(patience).await;
        // A folder that is new may have had its files before it was watched.
        if self.follow(settings).await? {
            again = self.host.upgrade()?.reconcile(patience).await;
        }
        let pause = match self.watcher {
            Some(_) => HEARTBEAT,
            None => settings.poll.value,
        };
        Some(again.map_or(pause, |again| again.min(pause)))
    }

    /// Watches the folders that matter now; answers whether one of them is new.
    async fn follow(&mut self, settings: &Reload) -> Option<bool> {
        if settings.method.value != ReloadMethod::Auto {
            self.watcher = None;
            return Some(false);
        }
        let host = self.host.upgrade()?;
        let (watcher, changes) = (self.watcher.take(), Arc::clone(&self.changes));
        let config_file = host.config_file().await;
        let followed = tokio::task::spawn_blocking(move || {
            let folders = Folders::of(&host.config(), config_file.as_deref());
            let mut watcher = match watcher {
                Some(watcher) => watcher,
                None => Watcher::new(changes)?,
            };
            let is_new = watcher.follow(&folders)?;
            Ok::<_, watcher::WatchError>((watcher, is_new))
        });
        match followed.await {
            Ok(Ok((watcher, is_new))) => {
                self.watcher = Some(watcher);
                self.complained = false;
                Some(is_new)
            }
            Ok(Err(error)) => {
                self.complain(settings, &error.to_string());
                Some(false)
            }
            Err(panic) => {
                self.complain(settings, &panic.to_string());
                Some(false)
            }
        }
    }

    fn complain(&mut self, settings: &Reload, why: &str) {
        if !std::mem::replace(&mut self.complained, true) {
            tracing::warn!(
                "changes are looked for every {} s: {why}",
                settings.poll.value.as_secs_f64()
            );
        }
    }
}

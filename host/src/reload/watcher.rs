//! Events of the file system for a set of folders that changes with time.
//!
//! Invariant: an event only says that there is something to look at; nothing is learned
//! from what it says. Losing one by overflow is an event too.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::folders::Folders;

/// Device and inode: a folder by what it is, not by its name.
type Identity = (u64, u64);

/// Watches folders.
pub(super) struct Watcher {
    events: RecommendedWatcher,
    known: Arc<RwLock<Known>>,
    watched: BTreeMap<Identity, PathBuf>,
}

/// What the thread that hears events knows and has found out.
#[derive(Default)]
struct Known {
    folders: Folders,
    /// Folders that were moved or removed: whatever has their names now is not watched.
    lost: BTreeSet<PathBuf>,
}

/// Why there are no events.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    /// A limit of the system is reached.
    #[error(
        "the system has no more watches for this user; raise them with `sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=128`"
    )]
    Limit,
    /// Anything else.
    #[error("the file system gives no events: {0}")]
    Other(String),
}

impl From<notify::Error> for WatchError {
    fn from(error: notify::Error) -> Self {
        match error.kind {
            ErrorKind::MaxFilesWatch => Self::Limit,
            ErrorKind::Io(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOSPC)
                ) =>
            {
                Self::Limit
            }
            _ => Self::Other(error.to_string()),
        }
    }
}

impl Watcher {
    /// A watcher of nothing yet, which signals every change that matters.
    pub fn new(changes: Arc<Notify>) -> Result<Self, WatchError> {
        let known = Arc::new(RwLock::new(Known::default()));
        let shared = Arc::clone(&known);
        let events = notify::recommended_watcher(move |event| {
            if hear(&event, &shared) {
                changes.notify_one();
            }
        })?;
        Ok(Self {
            events,
            known,
            watched: BTreeMap::new(),
        })
    }

    /// Watches these folders and no others. Answers whether one of them was not watched
    /// before: then something may have changed in it that nobody was told of.
    pub fn follow(&mut self, folders: &Folders) -> Result<bool, WatchError> {
        // Names first: an event may come as soon as a folder is watched.
        let lost = {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            known.folders = folders.clone();
            std::mem::take(&mut known.lost)
        };
        let mut wanted: BTreeMap<Identity, PathBuf> = BTreeMap::new();
        for path in folders.paths() {
            if let Ok(data) = path.metadata() {
                let identity = (data.dev(), data.ino());
                // One folder under two names is watched once.
                wanted.entry(identity).or_insert_with(|| path.to_owned());
            }
        }
        let gone: BTreeSet<Identity> = self
            .watched
            .iter()
            .filter(|(identity, path)| wanted.get(identity) != Some(path) || lost.contains(*path))
            .map(|(identity, _)| *identity)
            .collect();
        for identity in gone {
            if let Some(path) = self.watched.remove(&identity) {
                // A folder that was removed is not watched any more.
                let _ = self.events.unwatch(&path);
            }
        }
        let mut is_new = false;
        for (identity, path) in wanted {
            if self.watched.contains_key(&identity) {
                continue;
            }
            match self.events.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It went away just now, which its own folder tells.
                Err(error) if !path.is_dir() => {
                    tracing::debug!(%error, "a folder went away");
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.watched.insert(identity, path);
            is_new = true;
        }
        Ok(is_new)
    }
}

/// Whether an event is about something that could be a module or the configuration.
fn hear(event: &notify::Result<notify::Event>, known: &RwLock<Known>) -> bool {
    let Ok(event) = event else {
        return true;
    };
    if is_reading(event.kind) {
        return false;
    }
    if event.need_rescan() || event.paths.is_empty() {
        return true;
    }
    if matches!(
        event.kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    ) {
        let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
        // What is within goes with it, and may come back as the same by its identity.
        let is_lost = |folder: &Path| event.paths.iter().any(|path| folder.starts_with(path));
        let lost = known.folders.paths().filter(|folder| is_lost(folder));
        let lost: Vec<PathBuf> = lost.map(Path::to_owned).collect();
        known.lost.extend(lost);
    }
    let known = known.read().unwrap_or_else(PoisonError::into_inner);
    event.paths.iter().any(|path| known.folders.concern(path))
}

/// Whether a file was only opened or read, as the host itself does it.
fn is_reading(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use notify::Event;
    use notify::event::{RemoveKind, RenameMode};

    use super::*;
    use crate::config::{Config, Environment};

    #[test]
    fn a_folder_that_is_moved_or_removed_takes_those_within_with_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let modules = root.join("modules");
        std::fs::create_dir_all(modules.join("own")).unwrap();
        let environment = Environment::new(&root).with("HOME", "/nowhere");
        let text = "runtime.wasm.module_path = \"modules\"";
        let file = root.join("config.toml");
        let loaded = Config::from_toml(text, &file, &environment).unwrap();
        for kind in [
            EventKind::Modify(ModifyKind::Name(RenameMode::From)),
            EventKind::Remove(RemoveKind::Folder),
        ] {
            let known = RwLock::new(Known {
                folders: Folders::of(&loaded.config, Some(&file)),
                lost: BTreeSet::new(),
            });
            let event = Ok(Event::new(kind).add_path(modules.clone()));
            assert!(hear(&event, &known));
            let lost = known.into_inner().unwrap().lost;
            let lost: Vec<_> = lost.into_iter().collect();
            assert_eq!(lost, [modules.clone(), modules.join("own")]);
        }
    }
}

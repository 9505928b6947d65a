//! The files in which running hosts say what they are.
//!
//! Invariant: who reads one gets all of it or nothing, and the lock beside it is held
//! exactly as long as its host lives: the system itself gives it back.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};

use super::Notice;

/// Ends of the names: of what is said, and of the lock beside it.
const SAID: &str = "json";
const LOCK: &str = "lock";
/// A file that is larger is none of ours.
const MOST_BYTES: u64 = 16 << 20;

/// Says what a host is, as long as it lives.
pub(super) struct Publisher {
    said: PathBuf,
    lock_path: PathBuf,
    /// Held for its end.
    _lock: File,
    latest: Option<Notice>,
}

impl Publisher {
    /// Makes the folder where it is missing, and takes a place in it.
    pub fn new(folder: &Path) -> io::Result<Self> {
        /// Several hosts may live in one process.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let stem = format!("{}-{number}", std::process::id());
        let lock_path = folder.join(&stem).with_extension(LOCK);
        let lock = private().open(&lock_path)?;
        // Whoever had this number before is gone, or the number were not ours.
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            said: folder.join(&stem).with_extension(SAID),
            lock_path,
            _lock: lock,
            latest: None,
        })
    }

    /// Says it, unless it was said already.
    pub fn say(&mut self, notice: Notice) -> io::Result<()> {
        if self.latest.as_ref() == Some(&notice) {
            return Ok(());
        }
        let beside = self.said.with_extension("tmp");
        let mut file = private().truncate(true).open(&beside)?;
        file.write_all(&serde_json::to_vec(&notice)?)?;
        fs::rename(&beside, &self.said)?;
        self.latest = Some(notice);
        Ok(())
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // What stays is removed by whoever finds it without its host.
        let _ = fs::remove_file(&self.said);
        let _ = fs::remove_file(&self.lock_path);
    }
}

fn private() -> fs::OpenOptions {
    let mut options = File::options();
    options
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// What all hosts that live say in a folder. What is left of others is removed.
pub(super) fn read_all(folder: &Path) -> Vec<Notice> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let locks = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == LOCK));
    let mut notices = Vec::new();
    for lock_path in locks {
        let said = lock_path.with_extension(SAID);
        match is_held(&lock_path) {
            Ok(true) => notices.extend(read(&said)),
            Ok(false) => {
                let _ = fs::remove_file(&said);
                let _ = fs::remove_file(said.with_extension("tmp"));
                let _ = fs::remove_file(&lock_path);
            }
            Err(error) => tracing::debug!(%error, "a running host can not be asked"),
        }
    }
    notices
}

fn is_held(lock: &Path) -> io::Result<bool> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(lock)?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn read(file: &Path) -> Option<Notice> {
    let data = fs::symlink_metadata(file).ok()?;
    if !data.is_file() || data.len() > MOST_BYTES {
        return None;
    }
    let notice = serde_json::from_slice(&fs::read(file).ok()?);
    // One of another version of the host, for instance.
    notice
        .map_err(|error| tracing::debug!(%error, "a running host says something strange"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(snapshot: u64) -> Notice {
        Notice {
            pid: std::process::id(),
            started: "2026-01-01T00:00:00.000Z".into(),
            config: None,
            snapshot,
            since: "2026-01-01T00:00:00.000Z".into(),
            reload_ms: 1,
            tools: Vec::new(),
            broken: Vec::new(),
            needs_restart: Vec::new(),
        }
    }

    #[test]
    fn what_a_host_says_is_read_as_long_as_it_lives() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("state/.hosts");
        assert!(read_all(&folder).is_empty());
        let mut one = Publisher::new(&folder).unwrap();
        let mut two = Publisher::new(&folder).unwrap();
        assert!(read_all(&folder).is_empty());
        one.say(notice(1)).unwrap();
        two.say(notice(1)).unwrap();
        two.say(notice(2)).unwrap();
        let mut said = read_all(&folder);
        said.sort_by_key(|notice| notice.snapshot);
        assert_eq!(said, [notice(1), notice(2)]);
        drop(one);
        assert_eq!(read_all(&folder), [notice(2)]);
        drop(two);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn what_is_left_of_a_host_that_died_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut host = Publisher::new(folder).unwrap();
        host.say(notice(1)).unwrap();
        let names = || {
            let entries = fs::read_dir(folder).unwrap();
            entries
                .map(|entry| entry.unwrap().path())
                .collect::<Vec<_>>()
        };
        // As the death of a process leaves them: files without their lock.
        for path in names() {
            fs::copy(
                &path,
                path.with_file_name(format!("1-{}", path.file_name().unwrap().to_string_lossy())),
            )
            .unwrap();
        }
        assert_eq!(names().len(), 4);
        assert_eq!(read_all(folder), [notice(1)]);
        assert_eq!(names().len(), 2);
    }
}

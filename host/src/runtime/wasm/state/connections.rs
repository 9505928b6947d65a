//! The open connections of one namespace. Invariant: the list is locked only to take a
//! connection out or to put one back, never while a disk or another process is awaited.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::database;
use super::error::{Fault, StateError};
use super::queue::Queue;

/// Idle connections that are kept; more callers at once open more and close them again.
const MAX_IDLE: usize = 2;

/// Device and inode of the file under a path.
type FileIdentity = (u64, u64);

/// A connection, used by one caller at a time.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) connection: Connection,
    /// Where it waits before it writes.
    pub(super) queue: Queue,
    file: Option<FileIdentity>,
}

/// The connections to one file.
#[derive(Debug)]
pub(super) struct Connections {
    path: PathBuf,
    idle: Mutex<Vec<Open>>,
}

impl Connections {
    /// Opens nothing.
    pub(super) fn to(path: PathBuf) -> Self {
        Self {
            path,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The file.
    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` with a connection that nobody else uses meanwhile.
    ///
    /// After a failure of the database the connection is closed: whatever state it is in
    /// ends with it, and an unfinished transaction is rolled back.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Open) -> Result<T, Fault>,
    ) -> Result<T, StateError> {
        let mut taken = self.take()?;
        let result = work(&mut taken);
        if !matches!(result, Err(Fault::Database(_))) {
            self.put_back(taken);
        }
        result.map_err(|fault| fault.into_error(&self.path))
    }

    fn take(&self) -> Result<Open, StateError> {
        let file = file_identity(&self.path);
        while let Some(idle) = self.pop() {
            // Someone removed or replaced the file: what is written through a connection
            // to the old one would vanish without a word.
            if file.is_some() && idle.file == file {
                return Ok(idle);
            }
        }
        let connection = database::open(&self.path)?;
        let queue = Queue::beside(&self.path);
        Ok(Open {
            connection,
            queue,
            file: file_identity(&self.path),
        })
    }

    fn pop(&self) -> Option<Open> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    fn put_back(&self, returned: Open) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = if idle.len() < MAX_IDLE {
            idle.push(returned);
            None
        } else {
            Some(returned)
        };
        drop(idle);
        // Closing may write to the disk, so it comes after the lock.
        drop(surplus);
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        self.idle.lock().unwrap().len()
    }
}

#[cfg(unix)]
fn file_identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path)
        .ok()
        .map(|found| (found.dev(), found.ino()))
}

/// Elsewhere an open file can not be removed or replaced.
#[cfg(not(unix))]
fn file_identity(path: &Path) -> Option<FileIdentity> {
    path.exists().then_some((0, 0))
}

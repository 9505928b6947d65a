//! Turns among the writers of one namespace. A courtesy, not a guard: `SQLite`'s lock alone
//! keeps writes apart, and where files can not be locked there is simply no order.
//!
//! Without it a process that writes again and again is nearly always the one that holds
//! the database when another looks, and on a loaded machine the other looks in vain until
//! it gives up. With it, who waits for the database holds the queue, and who has just
//! written must queue before writing again: the one that waits is always next.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use super::database::BUSY_LIMIT;
use super::error::Fault;

/// Pause between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(1);

/// The file that is locked, `<database>-queue`. It stays empty.
#[derive(Debug)]
pub(super) struct Queue {
    file: Option<File>,
}

/// Being first in the queue, until dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    file: Option<&'a File>,
}

impl Queue {
    /// A place to queue, one per connection: also threads of one process are kept apart.
    pub(super) fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-queue");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self {
            file: options.open(path).ok(),
        }
    }

    /// Waits until all that came before have the database or gave up.
    pub(super) fn wait(&self) -> Result<Turn<'_>, Fault> {
        let Some(file) = &self.file else {
            return Ok(Turn { file: None });
        };
        let give_up = Instant::now() + BUSY_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Turn { file: Some(file) }),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(Fault::Busy),
                Err(TryLockError::Error(_)) => return Ok(Turn { file: None }),
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.file {
            let _ = file.unlock();
        }
    }
}

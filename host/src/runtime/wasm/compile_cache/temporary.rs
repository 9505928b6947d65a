//! Files under temporary names. Invariant: a file gets its real name only when it is
//! complete, and its writer holds a lock on it until then, so that what a dead writer
//! left can be told from work that goes on, also across containers.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use super::folder::{Found, PrivateFolder, has_name};
use crate::runtime::wasm::module::hex;

const PREFIX: &str = ".tmp-";

/// No write takes that long; a lock that is held longer is not believed.
const STALE_AFTER: Duration = Duration::from_hours(1);

/// A complete file that has only its temporary name, and loses it when dropped.
#[derive(Debug)]
pub(super) struct Temporary<'a> {
    folder: &'a PrivateFolder,
    name: String,
    file: File,
}

impl<'a> Temporary<'a> {
    /// Writes `content` under a name of its own.
    pub(super) fn write(folder: &'a PrivateFolder, content: &[u8]) -> io::Result<Self> {
        let mut temporary = Self::create(folder)?;
        temporary.file.write_all(content)?;
        Ok(temporary)
    }

    fn create(folder: &'a PrivateFolder) -> io::Result<Self> {
        loop {
            let mut random = [0; 8];
            getrandom::fill(&mut random)?;
            let name = format!("{PREFIX}{}", hex(&random));
            let temporary = Self {
                file: folder.create(&name)?,
                name,
                folder,
            };
            // Not every file system can lock; there only the age counts.
            let _ = temporary.file.lock();
            // A sweep that came between the creation and the lock has removed the file by
            // now, since it holds the lock until it has.
            if has_name(&temporary.file)? {
                return Ok(temporary);
            }
        }
    }

    /// Waits until the content is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives it its name, in place of what had it.
    pub(super) fn rename(self, name: &str) -> io::Result<()> {
        self.folder.rename(&self.name, name)
    }

    /// Gives it its name unless that is taken. Answers whether it did.
    pub(super) fn link_new(&self, name: &str) -> io::Result<bool> {
        self.folder.link_new(&self.name, name)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // After a rename there is nothing under that name.
        let _ = self.folder.remove(&self.name);
    }
}

/// Removes what writers that are gone have left.
pub(super) fn sweep(folder: &PrivateFolder) {
    let Ok(names) = folder.names() else { return };
    for name in names.iter().filter(|name| name.starts_with(PREFIX)) {
        // Held until the file is removed: its writer may be just about to lock it.
        let file = match folder.find(name) {
            Ok(Found::File(file)) if file.try_lock().is_ok() || is_stale(&file) => Some(file),
            Ok(Found::Intruder(_)) => None,
            Ok(Found::File(_) | Found::Nothing) | Err(_) => continue,
        };
        if folder.remove(name).unwrap_or(false) {
            tracing::debug!(file = %name, "removed what an interrupted write to the cache left");
        }
        drop(file);
    }
}

fn is_stale(file: &File) -> bool {
    file.metadata()
        .and_then(|found| found.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > STALE_AFTER))
}

//! Files of the module folder on their way to their names.
//!
//! Invariant: a file has only a hidden, temporary name until it is complete and on the
//! disk, and loses it when its writing ends in any other way. Its writer holds a lock on
//! it, so that what a killed writer left can be told from work that goes on.

use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use super::folder;
use super::name::ModuleName;

/// Bytes that make a temporary name one that nobody else has.
const RANDOM_BYTES: usize = 8;

/// A complete file under a temporary name.
pub(super) struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
    file: std::fs::File,
}

impl<'a> Temporary<'a> {
    /// Writes the content and waits until it is on the disk.
    pub(super) fn write(folder: &'a Dir, module: &ModuleName, content: &[u8]) -> io::Result<Self> {
        sweep(folder);
        let mut temporary = Self::create(folder, module)?;
        temporary.file.write_all(content)?;
        temporary.file.sync_all()?;
        Ok(temporary)
    }

    fn create(folder: &'a Dir, module: &ModuleName) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        loop {
            let mut random = [0; RANDOM_BYTES];
            getrandom::fill(&mut random)?;
            let number = u64::from_le_bytes(random);
            let name = format!(".{module}.wasm.{number:016x}.tmp");
            let temporary = Self {
                file: folder.open_with(&name, &options)?.into_std(),
                name,
                folder,
            };
            // Not every file system can lock; nobody sweeps there.
            let _ = temporary.file.lock();
            // A sweep that came in between has removed it.
            if temporary.file.metadata()?.nlink() > 0 {
                return Ok(temporary);
            }
        }
    }

    /// Gives it its name, in place of what has it.
    pub(super) fn replace(self, name: &str) -> io::Result<()> {
        folder::rename(self.folder, &self.name, name)?;
        folder::sync(self.folder);
        Ok(())
    }

    /// Gives it a name that nothing has.
    pub(super) fn settle(self, name: &str) -> io::Result<()> {
        folder::rename_new(self.folder, &self.name, name)?;
        folder::sync(self.folder);
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Under its real name it is gone from here.
        let _ = self.folder.remove_file(&self.name);
    }
}

/// Removes what writers that were killed have left.
fn sweep(folder: &Dir) {
    let Ok(entries) = folder.entries() else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(is_temporary) {
            continue;
        }
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
        let Ok(file) = folder.open_with(&name, &options) else {
            continue;
        };
        let file = file.into_std();
        if file.try_lock().is_ok() && folder.remove_file(&name).is_ok() {
            tracing::debug!(file = ?name, "removed what an interrupted installation left");
        }
    }
}

/// Whether a name is one that [`Temporary`] gives.
fn is_temporary(name: &str) -> bool {
    let parts = name
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .and_then(|rest| rest.rsplit_once(".wasm."));
    parts.is_some_and(|(module, random)| {
        ModuleName::new(module).is_ok()
            && random.len() == 2 * RANDOM_BYTES
            && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(folder: &Dir) -> Vec<String> {
        let mut names: Vec<String> = folder
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_is_hidden_until_it_has_its_name_and_gone_if_it_gets_none() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder::open(root.path()).unwrap().unwrap();
        let module = ModuleName::new("notes").unwrap();
        let temporary = Temporary::write(&folder, &module, b"content").unwrap();
        let all = names(&folder);
        assert!(all.len() == 1 && is_temporary(&all[0]), "{all:?}");
        drop(temporary);
        assert_eq!(names(&folder), Vec::<String>::new());
        let temporary = Temporary::write(&folder, &module, b"content").unwrap();
        temporary.settle("notes.wasm").unwrap();
        assert_eq!(names(&folder), ["notes.wasm"]);
        let mode = std::fs::metadata(root.path().join("notes.wasm"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7133, 0, "{mode:o}");
        let temporary = Temporary::write(&folder, &module, b"other").unwrap();
        let error = temporary.settle("notes.wasm").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(&folder), ["notes.wasm"]);
    }

    #[test]
    fn only_what_nobody_writes_any_more_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder::open(root.path()).unwrap().unwrap();
        let module = ModuleName::new("notes").unwrap();
        let left = ".notes.wasm.0123456789abcdef.tmp";
        for name in [left, ".notes.wasm.0123.tmp", ".vimrc.tmp", "notes.wasm"] {
            folder.write(name, "").unwrap();
        }
        let working = Temporary::write(&folder, &module, b"one").unwrap();
        let other = Temporary::write(&folder, &module, b"other").unwrap();
        let now = names(&folder);
        assert!(!now.contains(&left.to_owned()), "{now:?}");
        assert_eq!(now.len(), 5, "{now:?}");
        drop((working, other));
        assert_eq!(
            names(&folder),
            [".notes.wasm.0123.tmp", ".vimrc.tmp", "notes.wasm"]
        );
    }
}

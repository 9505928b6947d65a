//! Files of the module folder on their way to their names.
//!
//! Invariant: a file has only a hidden, temporary name until it is complete and on the
//! disk, and loses it when its writing ends in any other way. Its writer holds a lock on
//! it, so that what a killed writer left can be told from work that goes on. When it gets
//! its name nobody has it open for writing, so that no host takes it for half a file.

use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use super::folder;
use super::name::ModuleName;

/// Bytes that make a temporary name one that nobody else has.
const RANDOM_BYTES: usize = 8;

/// A complete file under a temporary name.
pub(super) struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
    /// Holds the lock, and can not write.
    #[allow(dead_code, reason = "held for its lock")]
    lock: std::fs::File,
}

impl<'a> Temporary<'a> {
    /// Writes the content and waits until it is on the disk.
    pub(super) fn write(folder: &'a Dir, module: &ModuleName, content: &[u8]) -> io::Result<Self> {
        sweep(folder);
        let (temporary, mut file) = Self::create(folder, module)?;
        file.write_all(content)?;
        file.sync_all()?;
        Ok(temporary)
    }

    fn create(folder: &'a Dir, module: &ModuleName) -> io::Result<(Self, std::fs::File)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644);
        loop {
            let mut random = [0; RANDOM_BYTES];
            getrandom::fill(&mut random)?;
            let number = u64::from_le_bytes(random);
            let name = format!(".{module}.wasm.{number:016x}.tmp");
            let file = folder.open_with(&name, &options)?.into_std();
            let lock = match open(folder, &name) {
                Ok(lock) => lock,
                // A sweep that came in between has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let _ = folder.remove_file(&name);
                    return Err(error);
                }
            };
            let temporary = Self { folder, name, lock };
            // Not every file system can lock; nobody sweeps there.
            let _ = temporary.lock.lock();
            // The same, a moment later.
            if temporary.lock.metadata()?.nlink() > 0 {
                return Ok((temporary, file));
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
        let Ok(file) = open(folder, &name) else {
            continue;
        };
        if file.try_lock().is_ok() && folder.remove_file(&name).is_ok() {
            tracing::debug!(file = ?name, "removed what an interrupted installation left");
        }
    }
}

/// Opens a file for its lock: never a link, and never to wait for somebody.
fn open(folder: &Dir, name: impl AsRef<Path>) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
    Ok(folder.open_with(name, &options)?.into_std())
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
    fn a_complete_file_is_open_for_reading_only() {
        let root = tempfile::tempdir().unwrap();
        let folder = folder::open(root.path()).unwrap().unwrap();
        let module = ModuleName::new("notes").unwrap();
        let temporary = Temporary::write(&folder, &module, b"content").unwrap();
        let mut found = 0;
        for handle in std::fs::read_dir("/proc/self/fd").unwrap() {
            let handle = handle.unwrap();
            // Other tests open and close files meanwhile.
            let is_it = std::fs::read_link(handle.path())
                .is_ok_and(|target| target.ends_with(&temporary.name));
            if is_it {
                let number = handle.file_name().into_string().unwrap();
                let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
                let flags = told.lines().find_map(|line| line.strip_prefix("flags:"));
                let flags = i32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
                assert_eq!(flags & libc::O_ACCMODE, libc::O_RDONLY);
                found += 1;
            }
        }
        assert_eq!(found, 1);
        assert_eq!(folder.read(&temporary.name).unwrap(), b"content");
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

//! The module folder, held open: every file of it is reached through its handle.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::file_state::Stamp;

/// Opens the folder; `None` if there is none.
pub(super) fn open(path: &Path) -> io::Result<Option<Dir>> {
    match Dir::open_ambient_dir(path, ambient_authority()) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the folder, made for this user alone where there is none.
pub(super) fn open_or_make(path: &Path) -> io::Result<Dir> {
    if let Some(folder) = open(path)? {
        return Ok(folder);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    Dir::open_ambient_dir(path, ambient_authority())
}

/// The path of a module in the folder, if it leads nowhere else: without dots, and
/// relative.
pub(super) fn inside(module: &Path, folder: &Path) -> Option<std::path::PathBuf> {
    let path = module.strip_prefix(folder).unwrap_or(module);
    let mut inside = std::path::PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!inside.as_os_str().is_empty()).then_some(inside)
}

/// What tells one state of a name in the folder from another, links themselves; `None`:
/// nothing has it.
pub(super) fn stamp(folder: &Dir, name: &str) -> io::Result<Option<Stamp>> {
    let found = metadata(folder, Path::new(name))?;
    Ok(found.as_ref().map(Stamp::of))
}

/// What the system says of a name, links themselves; `None`: nothing has it.
pub(super) fn metadata(folder: &Dir, name: &Path) -> io::Result<Option<Metadata>> {
    match folder.symlink_metadata(name) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a file of the folder has exactly this content. What can not be read has not.
pub(super) fn has_content(folder: &Dir, name: &str, size: u64, digest: &[u8; 32]) -> bool {
    let mut options = OpenOptions::new();
    // Opening a named pipe would wait for somebody who writes into it.
    options.read(true).custom_flags(libc::O_NONBLOCK);
    let Ok(file) = folder.open_with(name, &options) else {
        return false;
    };
    let fits = file
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() == size);
    fits && digest_of(file, size).is_ok_and(|found| found == *digest)
}

/// The digest of a file; it is read a little past its size, so that one that grew differs.
fn digest_of(file: File, size: u64) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut part = vec![0; 64 << 10];
    let mut file = file.take(size.saturating_add(1));
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&part[..count]),
        }
    }
}

/// Gives a file of the folder another name, in place of what has it: a link is replaced
/// itself.
pub(super) fn rename(folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    Ok(rustix::fs::renameat(folder, from, folder, to)?)
}

/// Gives a file of the folder another name that nothing may have yet.
pub(super) fn rename_new(folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Not every file system knows the flag; all that have links know these.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())?;
            Ok(rustix::fs::unlinkat(folder, from, AtFlags::empty())?)
        }
        renamed => Ok(renamed?),
    }
}

/// Waits until names of the folder are on the disk. The change is made either way: who
/// can not be asked to keep it is only noted.
pub(super) fn sync(folder: &Dir) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let synced = rustix::fs::openat(folder, ".", flags, Mode::empty()).and_then(rustix::fs::fsync);
    if let Err(error) = synced {
        tracing::debug!(%error, "the module folder can not be synced");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_in_the_folder_are_inside() {
        let folder = Path::new("/modules");
        for (module, expected) in [
            ("a.wasm", Some("a.wasm")),
            ("./a.wasm", Some("a.wasm")),
            ("/modules/a.wasm", Some("a.wasm")),
            ("/modules/a/./skill.wasm", Some("a/skill.wasm")),
            ("/elsewhere/a.wasm", None),
            ("../a.wasm", None),
            ("b/../../a.wasm", None),
            ("/modules", None),
            ("", None),
        ] {
            assert_eq!(
                inside(Path::new(module), folder).as_deref(),
                expected.map(Path::new),
                "{module}"
            );
        }
    }

    #[test]
    fn a_new_name_is_not_taken_from_another() {
        let root = tempfile::tempdir().unwrap();
        let folder = open(root.path()).unwrap().unwrap();
        folder.write("new", "new").unwrap();
        folder.write("old", "old").unwrap();
        let error = rename_new(&folder, "new", "old").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(folder.read("old").unwrap(), b"old");
        rename_new(&folder, "new", "free").unwrap();
        assert_eq!(folder.read("free").unwrap(), b"new");
        assert!(!folder.exists("new"));
    }

    #[test]
    fn content_is_compared_to_the_last_byte() {
        let root = tempfile::tempdir().unwrap();
        let folder = open(root.path()).unwrap().unwrap();
        folder.write("file", "content").unwrap();
        folder.symlink("file", "link").unwrap();
        folder.symlink_contents("/etc/passwd", "out").unwrap();
        let digest = Sha256::digest("content").into();
        for (name, size, expected) in [
            ("file", 7, true),
            ("link", 7, true),
            ("file", 6, false),
            ("none", 7, false),
            (".", 7, false),
            ("out", 7, false),
        ] {
            assert_eq!(
                has_content(&folder, name, size, &digest),
                expected,
                "{name}"
            );
        }
        assert!(!has_content(&folder, "file", 7, &[0; 32]));
    }
}

//! The private folder of the cache, held open. Invariant: every file is reached through
//! the handle of the folder and never through a link, and is handed out only if it is a
//! regular file of this user that nobody else may touch.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// What was found under a name.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// Something that this host did not put there; the text says what.
    Intruder(String),
    /// A file that may be read. Its content is not verified yet.
    File(File),
}

/// A folder that only this user can change.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    handle: OwnedFd,
    user: u32,
}

impl PrivateFolder {
    /// Makes the folder if it is missing. The text of an error says why it can not be used.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| format!("the folder can not be made ({error})"))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| format!("the folder can not be opened ({error})"))?;
        let stat = rustix::fs::fstat(&handle)
            .map_err(|error| format!("the folder can not be looked at ({error})"))?;
        let user = rustix::process::geteuid().as_raw();
        if stat.st_uid != user {
            return Err(format!(
                "the folder belongs to user {}, not to {user}",
                stat.st_uid
            ));
        }
        let mode = permissions(&stat);
        if mode & 0o022 != 0 {
            return Err(format!(
                "others may write into the folder (mode {mode:03o}, `chmod go-w` closes it)"
            ));
        }
        Ok(Self { handle, user })
    }

    /// Opens a file for reading, if it is one that this host can have written.
    pub(super) fn find(&self, name: &str) -> io::Result<Found> {
        // NONBLOCK: a pipe under that name must not stop the host.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            Err(Errno::LOOP) => return Ok(Found::Intruder("it is a symbolic link".to_owned())),
            Err(error @ (Errno::ACCESS | Errno::PERM | Errno::NXIO)) => {
                return Ok(Found::Intruder(format!("it can not be opened ({error})")));
            }
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        let mode = permissions(&stat);
        let reason = if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            "it is no regular file".to_owned()
        } else if stat.st_uid != self.user {
            format!("it belongs to user {}", stat.st_uid)
        } else if mode != 0o600 {
            format!("it has mode {mode:03o} instead of 600")
        } else {
            return Ok(Found::File(file));
        };
        Ok(Found::Intruder(reason))
    }

    /// Makes a new file of this user alone; an error if the name is taken.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(handle))
    }

    /// Gives a file another name, in place of what has it.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Gives a file a second name, unless that is taken. Answers whether it did.
    pub(super) fn link_new(&self, from: &str, to: &str) -> io::Result<bool> {
        match rustix::fs::linkat(&self.handle, from, &self.handle, to, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file, a link (not what it leads to) or an empty folder. Answers whether
    /// it was there.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(Errno::ISDIR | Errno::PERM) => {
                rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The names of all files. Names that are no UTF-8 are none of ours.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            if let Some(name) = OsStr::from_bytes(entry.file_name().to_bytes()).to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Size and time of the last change of a file, or of a link itself; `None` if there
    /// is no such file.
    pub(super) fn size_and_time(&self, name: &str) -> Option<(u64, SystemTime)> {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        Some((u64::try_from(stat.st_size).unwrap_or(0), time))
    }
}

/// Whether a file still has a name.
pub(super) fn has_name(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

fn permissions(stat: &Stat) -> u32 {
    Mode::from_raw_mode(stat.st_mode).bits() & 0o7777
}

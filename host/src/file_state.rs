//! What the system says of a file: whether it is still the one that was read, and whether
//! somebody is still writing it. How files are opened and read that others replace.
//!
//! Invariant: the answer is taken from an open file or from one look at a path; nothing
//! here waits.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Metadata, MetadataExt as _};

/// File systems keep times in steps of up to this; a file that is changed twice within
/// one step may look as if it was changed once.
const COARSEST_STEP: Duration = Duration::from_secs(2);

/// How soon a file is looked at again that somebody is writing.
pub(crate) const WRITING: Duration = Duration::from_millis(100);

/// A writer that did nothing for so long has forgotten to close the file.
const WRITING_PAUSE: Duration = Duration::from_secs(10);

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    /// A copy that keeps the times of its original still changes this one.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file that was looked at.
    pub fn of(data: &Metadata) -> Self {
        Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        }
    }

    /// Whether the file could have changed after it was read at `time` and still have
    /// this stamp. Such a stamp proves nothing: the file must be read again.
    pub fn is_too_fresh(&self, time: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed.max(self.modified);
        let whole = u64::try_from(seconds).unwrap_or(0);
        let rest = u32::try_from(nanoseconds).unwrap_or(0);
        let last = SystemTime::UNIX_EPOCH + Duration::new(whole, rest);
        last + COARSEST_STEP > time
    }
}

/// Opens a file to read it. A named pipe is opened too: nobody waits for its writer.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

/// What `read` takes from a file, and the stamp of the file; `None`: somebody is writing
/// it, or began to while it was read. `failed` is for what the system refuses.
pub(crate) fn undisturbed<T, E>(
    file: &File,
    failed: impl Fn(io::Error) -> E,
    read: impl FnOnce(&File) -> Result<T, E>,
) -> Result<Option<(T, Stamp)>, E> {
    let look = || {
        file.metadata()
            .map(Metadata::from_just_metadata)
            .map_err(&failed)
    };
    let before = look()?;
    if is_being_written(file, &before) {
        return Ok(None);
    }
    let read = read(file)?;
    let (stamp, after) = (Stamp::of(&before), look()?);
    let is_same = Stamp::of(&after) == stamp && !is_being_written(file, &after);
    Ok(is_same.then_some((read, stamp)))
}

/// Whether somebody has the file open for writing and wrote to it lately. What can not be
/// found out is no.
fn is_being_written(file: impl AsFd, data: &Metadata) -> bool {
    let modified = data.modified().map(cap_std::time::SystemTime::into_std);
    let is_recent = modified.is_ok_and(|time| {
        let passed = SystemTime::now().duration_since(time);
        // A time to come is one of another clock.
        passed.map_or(true, |passed| passed < WRITING_PAUSE)
    });
    is_recent && has_writer(&file)
}

/// Asks the kernel for a lease on the file, which it gives only where nobody has the file
/// open for writing, and gives it back at once.
#[cfg(target_os = "linux")]
fn has_writer(file: &impl AsFd) -> bool {
    use std::os::fd::AsRawFd as _;

    /// Chooses the signal of a lease; `libc` does not have it for every system.
    const F_SETSIG: libc::c_int = 10;
    let descriptor = file.as_fd().as_raw_fd();
    let command = |command: libc::c_int, argument: libc::c_int| {
        // SAFETY: the descriptor is open, and these commands take a number.
        let answer = unsafe { libc::fcntl(descriptor, command, argument) };
        match answer {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // Whoever opens the file while the lease is held makes the kernel send a signal. The
    // usual one would end this process; this one is ignored by everybody.
    if command(F_SETSIG, libc::SIGURG).is_err() {
        return false;
    }
    match command(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            // It ends with the file at the latest.
            let _ = command(libc::F_SETLEASE, libc::F_UNLCK);
            false
        }
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

#[cfg(not(target_os = "linux"))]
fn has_writer(_file: &impl AsFd) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn looked_at(file: &File) -> Metadata {
        Metadata::from_just_metadata(file.metadata().unwrap())
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_is_being_written_until_its_writer_closes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut writer = File::create(&path).unwrap();
        writer.write_all(b"half").unwrap();
        let reader = File::open(&path).unwrap();
        assert!(is_being_written(&reader, &looked_at(&reader)));
        drop(writer);
        assert!(!is_being_written(&reader, &looked_at(&reader)));
        // Asking leaves nothing behind that keeps the next writer out.
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .write_all(b"again")
            .unwrap();
    }

    #[test]
    fn a_writer_that_fell_asleep_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let writer = File::create(&path).unwrap();
        let long_ago = SystemTime::now() - 2 * WRITING_PAUSE;
        writer.set_modified(long_ago).unwrap();
        let reader = File::open(&path).unwrap();
        assert!(!is_being_written(&reader, &looked_at(&reader)));
    }

    #[test]
    fn a_stamp_tells_files_apart_and_is_believed_only_when_it_is_old_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let first = Stamp::of(&looked_at(&File::open(&path).unwrap()));
        assert!(first.is_too_fresh(SystemTime::now()));
        assert!(!first.is_too_fresh(SystemTime::now() + 2 * COARSEST_STEP));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "more").unwrap();
        let second = Stamp::of(&looked_at(&File::open(&path).unwrap()));
        assert_ne!(first, second);
    }
}

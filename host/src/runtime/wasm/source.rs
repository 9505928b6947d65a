//! Where a module's bytes come from.
//!
//! Invariant: a file inside of the module folder is opened through that folder, so that a
//! link swapped in by somebody else can not lead out of it.

use std::fs::FileType;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileTypeExt as _, Metadata, OpenOptions, OpenOptionsExt as _};
use sha2::{Digest as _, Sha256};

use super::fault::ModuleFault;
use crate::file_state::{self, Stamp};
use crate::model::Shown as _;

/// Bytes that a module file may have. Whole language runtimes have 20 to 60 MiB.
const MAX_MODULE_BYTES: u64 = 256 << 20;

/// The bytes of a file, and what proves later that it did not change.
pub struct Contents {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Their SHA-256.
    pub digest: [u8; 32],
    /// `None`: the file is so new that nothing would show a further change.
    pub(crate) stamp: Option<Stamp>,
}

/// A file that should be a module.
#[derive(Clone)]
pub struct ModuleSource {
    folder: Option<(Arc<Dir>, PathBuf)>,
    file: PathBuf,
}

impl ModuleSource {
    /// A file inside of the module folder, by its path in there.
    pub fn inside(folder: &Arc<Dir>, folder_path: &Path, file: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some((Arc::clone(folder), folder_path.to_owned())),
            file: file.into(),
        }
    }

    /// A file that the operator named by an absolute path.
    pub fn absolute(file: impl Into<PathBuf>) -> Self {
        Self {
            folder: None,
            file: file.into(),
        }
    }

    /// The whole path, for messages.
    pub fn path(&self) -> PathBuf {
        match &self.folder {
            Some((_, folder)) => folder.join(&self.file),
            None => self.file.clone(),
        }
    }

    /// What the system says of the file.
    pub(super) fn metadata(&self) -> std::io::Result<Metadata> {
        match &self.folder {
            Some((folder, _)) => folder.metadata(&self.file),
            None => std::fs::metadata(&self.file).map(Metadata::from_just_metadata),
        }
    }

    fn open(&self) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        // Opening a named pipe would wait for somebody who writes into it.
        options.read(true).custom_flags(libc::O_NONBLOCK);
        match &self.folder {
            Some((folder, _)) => folder.open_with(&self.file, &options),
            None => File::open_ambient_with(&self.file, &options, ambient_authority()),
        }
    }

    /// What proves that the file did not change, as far as a look at it tells.
    pub(crate) fn stamp(&self) -> Result<Stamp, ModuleFault> {
        let data = self.metadata().map_err(|error| self.explain(&error))?;
        Ok(Stamp::of(&data))
    }

    /// Reads the file, unless somebody is still writing it.
    pub(crate) fn read(&self) -> Result<Contents, ModuleFault> {
        let file = self.open().map_err(|error| self.explain(&error))?;
        let file = file.into_std();
        let metadata = file.metadata().map_err(|error| unreadable(&error))?;
        if !metadata.is_file() {
            return Err(ModuleFault::NoFile(kind_of(metadata.file_type())));
        }
        let too_large = |size| ModuleFault::TooLarge {
            size,
            limit: MAX_MODULE_BYTES,
        };
        if metadata.len() > MAX_MODULE_BYTES {
            return Err(too_large(metadata.len()));
        }
        let read_at = SystemTime::now();
        let failed = |error| unreadable(&error);
        let read = file_state::undisturbed(&file, failed, |mut file| {
            let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
            // The file may grow while it is read; the limit holds all the same.
            let mut limited = Read::take(&mut file, MAX_MODULE_BYTES + 1);
            limited.read_to_end(&mut bytes).map_err(failed)?;
            if bytes.len() as u64 > MAX_MODULE_BYTES {
                return Err(too_large(bytes.len() as u64));
            }
            Ok(bytes)
        })?;
        let (bytes, stamp) = read.ok_or(ModuleFault::BeingWritten)?;
        let stamp = Some(stamp).filter(|stamp| !stamp.is_too_fresh(read_at));
        Ok(Contents {
            digest: Sha256::digest(&bytes).into(),
            bytes,
            stamp,
        })
    }

    /// Why the file can not be opened, in words that help.
    pub(super) fn explain(&self, error: &std::io::Error) -> ModuleFault {
        let path = self.path();
        let link = std::fs::read_link(&path).ok();
        // A refusal of the system has a number; that of the opened folder has none.
        let is_outside = error.kind() == ErrorKind::PermissionDenied
            && error.raw_os_error().is_none()
            && self.folder.is_some();
        match (error.raw_os_error(), link) {
            (_, link) if is_outside => ModuleFault::LeadsOut(match link {
                Some(to) => format!("it is a link to `{}`, which", to.shown()),
                None => "its path".to_owned(),
            }),
            (Some(libc::ELOOP), _) => ModuleFault::LinkCircle,
            (_, Some(to)) if error.kind() == ErrorKind::NotFound => {
                ModuleFault::DeadLink(to.shown().to_string())
            }
            // A socket can not even be opened.
            (Some(libc::ENXIO | libc::ENODEV), _) => match self.metadata() {
                Ok(data) if data.file_type().is_socket() => ModuleFault::NoFile("a socket"),
                Ok(data) if !data.is_file() => ModuleFault::NoFile("a device"),
                _ => unreadable(error),
            },
            _ => unreadable(error),
        }
    }
}

/// What something is that is no regular file.
fn kind_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

fn unreadable(error: &std::io::Error) -> ModuleFault {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ModuleFault::Missing,
        _ => ModuleFault::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_pipe_is_no_module_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.wasm");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let opened = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        for source in [
            ModuleSource::inside(&Arc::new(opened), folder.path(), "pipe.wasm"),
            ModuleSource::absolute(&pipe),
        ] {
            assert!(!source.metadata().unwrap().is_file());
            let fault = source.read().err().expect("a pipe was read");
            assert!(fault.to_string().contains("no regular file"), "{fault}");
        }
    }
}

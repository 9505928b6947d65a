//! Compiled modules and their descriptors, kept on disk between runs of the host.
//!
//! Owns the files under `runtime.wasm.cache_path`. Knows nothing of engines: it keeps
//! bytes. Invariant: what it hands out is, byte for byte, what a host of this user put
//! into this cache under that key; everything else is a miss.
//!
//! Serialised code is as powerful as native code, so it is worth a paragraph:
//!
//! * **The folder** must belong to this user and be writable by nobody else, or the
//!   cache is off. It is opened once; files are opened relative to it, without following
//!   links, and must be regular, this user's own, and closed to all others (0600).
//! * **The secret**, 32 random bytes in the folder, keys a BLAKE3 MAC. A descriptor
//!   carries the MAC of itself and of its code, both bound to the key. Entries that are
//!   truncated, zeroed, changed, swapped with another key's, or copied from another cache
//!   do not verify. They are counted, logged, removed and answered as a miss.
//! * **Between check and use** nothing can be exchanged: code is verified through a file
//!   handle, and [`CodeFile::path`] names that handle, so what is mapped is the very file
//!   that was verified. Hosts replace files by renaming and never write into one.
//!   What remains is a process of this same user that writes into a verified file, or
//!   reads the secret: it could as well change the host's own program, and no cache can
//!   defend against it. Copying a whole folder, secret included, moves its trust along.
//! * **No syncs.** Files are written under a temporary name and renamed. After a power
//!   cut a name may lead to missing or zeroed bytes; the MAC finds that, at the price of
//!   compiling again, so waiting for the disk would buy nothing.
//!
//! Nothing here fails hard: a cache that can not be used is off and says why
//! ([`CompileCache::problem`]), and the host compiles instead.

mod contents;
mod entries;
mod eviction;
mod folder;
mod key;
mod seal;
mod secret;
mod statistics;
mod temporary;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

pub use contents::Contents;
pub use key::CacheKey;
pub use statistics::Statistics;

use entries::Entries;

use crate::model::Shown as _;

/// Compiled modules on disk. Cheap to share by reference between threads.
#[derive(Debug)]
pub struct CompileCache {
    entries: Result<Entries, String>,
}

impl CompileCache {
    /// The cache in `folder`, which is made, for this user alone, if it is missing.
    /// Entries that were unused for longest go when all together exceed `max_bytes`.
    ///
    /// Never fails: see [`problem`](Self::problem).
    pub fn open(folder: &Path, max_bytes: u64) -> Self {
        if max_bytes == 0 {
            return Self::disabled("its size limit is 0 (`runtime.wasm.cache_max_mb`)");
        }
        if !Path::new(HANDLES).is_dir() {
            return Self::disabled(format!("`{HANDLES}` is not there; mount `/proc`"));
        }
        let entries = Entries::open(folder, max_bytes).map_err(|reason| {
            format!(
                "`{}`: {reason}; set `runtime.wasm.cache_path` to a folder of this user's own",
                folder.shown()
            )
        });
        if let Err(problem) = &entries {
            tracing::warn!("compiled modules are not kept: {problem}");
        }
        Self { entries }
    }

    /// A cache that keeps nothing, for the given reason.
    pub fn disabled(reason: impl Into<String>) -> Self {
        Self {
            entries: Err(reason.into()),
        }
    }

    /// Why nothing is kept, with the remedy; `None` if all is well.
    pub fn problem(&self) -> Option<&str> {
        self.entries.as_ref().err().map(String::as_str)
    }

    /// The descriptor that was stored with the code of `key`. Reads no code.
    pub fn lookup_descriptor(&self, key: &CacheKey) -> Option<Vec<u8>> {
        self.entries.as_ref().ok()?.descriptor(key)
    }

    /// The code of `key`, verified just now.
    pub fn open_code(&self, key: &CacheKey) -> Option<CodeFile> {
        self.entries
            .as_ref()
            .ok()?
            .code(key)
            .map(|file| CodeFile { file })
    }

    /// Keeps `code` and `descriptor` under `key`, in place of what was there. A disk that
    /// is full or read-only is warned of once; an entry larger than the cache is not kept.
    pub fn store(&self, key: &CacheKey, descriptor: &[u8], code: &[u8]) {
        if let Ok(entries) = &self.entries {
            entries.store(key, descriptor, code);
        }
    }

    /// Removes the entry of `key`, if there is one. For an entry that verified and that
    /// the engine refused all the same.
    pub fn remove(&self, key: &CacheKey) {
        if let Ok(entries) = &self.entries {
            entries.remove(key);
        }
    }

    /// How much is in it, counted once in a while; `None`: it is off or can not be read.
    /// May block.
    pub fn contents(&self) -> Option<Contents> {
        self.entries.as_ref().ok()?.contents()
    }

    /// What happened since this cache was opened, by this process.
    pub fn statistics(&self) -> Statistics {
        self.entries
            .as_ref()
            .map(Entries::statistics)
            .unwrap_or_default()
    }
}

/// Verified code, as an open file. Keep it until the code is loaded.
#[derive(Debug)]
pub struct CodeFile {
    file: File,
}

impl CodeFile {
    /// A path to hand to `wasmtime::component::Component::deserialize_file`. It names the
    /// open handle, not the file's name: it leads to what was verified even if the entry
    /// has been replaced or evicted since. Good only while this value lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("{HANDLES}/{}", self.file.as_raw_fd()))
    }
}

/// Where open handles of this process have names.
#[cfg(any(target_os = "linux", target_os = "android"))]
const HANDLES: &str = "/proc/self/fd";
/// Where open handles of this process have names.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const HANDLES: &str = "/dev/fd";

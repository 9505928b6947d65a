//! A cache that can be used: looks up, verifies, stores. Invariant: every byte that it
//! hands out has been verified on the way out, in this call.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::contents::{Census, Contents};
use super::eviction::{self, Room};
use super::folder::{Found, PrivateFolder};
use super::key::{CacheKey, code_name, descriptor_name};
use super::seal::{Descriptor, Seal, is_same};
use super::secret;
use super::statistics::{Counters, Statistics, add};
use super::temporary::{self, Temporary};

/// The largest descriptor file; a larger one is not read into memory.
const MAX_DESCRIPTOR_BYTES: u64 = 64 << 20;

/// How exact the time of the last use is. More would write to the disk at every call.
const TOUCH_INTERVAL: Duration = Duration::from_hours(1);

/// The entries of one folder.
#[derive(Debug)]
pub(super) struct Entries {
    folder: PrivateFolder,
    seal: Seal,
    room: Room,
    counters: Counters,
    census: Census,
}

/// Why a look-up has no answer.
enum Miss {
    /// There is nothing.
    Absent,
    /// There is something that must not be used, and must go.
    Rejected(String),
    /// It can not be read now, which says nothing about it.
    Unreadable(io::Error),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl Entries {
    /// The text of an error says why the folder can not be used.
    pub(super) fn open(folder: &Path, max_bytes: u64) -> Result<Self, String> {
        let folder = PrivateFolder::open(folder)?;
        temporary::sweep(&folder);
        let seal = Seal::new(&secret::read_or_create(&folder)?);
        Ok(Self {
            folder,
            seal,
            room: Room::new(max_bytes),
            counters: Counters::default(),
            census: Census::default(),
        })
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.counters.now()
    }

    pub(super) fn contents(&self) -> Option<Contents> {
        self.census.take(&self.folder)
    }

    pub(super) fn descriptor(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let found = self
            .read_descriptor(key)
            .map(|descriptor| descriptor.payload);
        self.answer(key, found)
    }

    pub(super) fn code(&self, key: &CacheKey) -> Option<File> {
        // Another process may replace the entry between the two files; then the second
        // look finds the new pair.
        let found = match self.read_code(key) {
            Err(Miss::Absent) => self.read_code(key),
            found => found,
        };
        self.answer(key, found)
    }

    /// Counts, logs, and removes what was rejected.
    fn answer<T>(&self, key: &CacheKey, found: Result<T, Miss>) -> Option<T> {
        let miss = match found {
            Ok(found) => {
                add(&self.counters.hits, 1);
                return Some(found);
            }
            Err(miss) => miss,
        };
        add(&self.counters.misses, 1);
        match miss {
            Miss::Absent => tracing::debug!(entry = %key.stem(), "not in the compile cache"),
            Miss::Unreadable(error) => {
                tracing::debug!(entry = %key.stem(), %error, "the compile cache can not be read");
            }
            Miss::Rejected(reason) => {
                add(&self.counters.rejected, 1);
                let entry = key.stem();
                tracing::warn!(%entry, "discarded an entry of the compile cache: {reason}");
                self.remove(key);
            }
        }
        None
    }

    fn read_descriptor(&self, key: &CacheKey) -> Result<Descriptor, Miss> {
        let reject = |reason: &str| Miss::Rejected(format!("its descriptor: {reason}"));
        let mut file = match self.folder.find(&descriptor_name(&key.stem()))? {
            Found::Nothing => return Err(Miss::Absent),
            Found::Intruder(reason) => return Err(reject(&reason)),
            Found::File(file) => file,
        };
        let metadata = file.metadata()?;
        if metadata.len() > MAX_DESCRIPTOR_BYTES {
            return Err(reject("it is too large"));
        }
        let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        Read::by_ref(&mut file)
            .take(MAX_DESCRIPTOR_BYTES)
            .read_to_end(&mut content)?;
        let descriptor = self
            .seal
            .unseal(&key.binding(), &content)
            .ok_or_else(|| reject("it is damaged or was not written by this cache"))?;
        touch(&file, metadata.modified().ok());
        Ok(descriptor)
    }

    fn read_code(&self, key: &CacheKey) -> Result<File, Miss> {
        let reject = |reason: &str| Miss::Rejected(format!("its code: {reason}"));
        let descriptor = self.read_descriptor(key)?;
        let file = match self
            .folder
            .find(&code_name(&key.stem(), &descriptor.code_mac))?
        {
            Found::Nothing => return Err(Miss::Absent),
            Found::Intruder(reason) => return Err(reject(&reason)),
            Found::File(file) => file,
        };
        let length = file.metadata()?.len();
        if length != descriptor.code_length {
            let expected = descriptor.code_length;
            return Err(reject(&format!(
                "it has {length} bytes instead of {expected}"
            )));
        }
        if !is_same(
            self.seal.code_mac(&key.binding(), &file)?,
            descriptor.code_mac,
        ) {
            return Err(reject("it is damaged or was not written by this cache"));
        }
        Ok(file)
    }

    pub(super) fn store(&self, key: &CacheKey, payload: &[u8], code: &[u8]) {
        match self.try_store(key, payload, code) {
            Ok(true) => {
                add(&self.counters.stored, 1);
            }
            Ok(false) => tracing::debug!(
                entry = %key.stem(),
                "not kept: larger than the whole compile cache (`runtime.wasm.cache_max_mb`)"
            ),
            // Each module would say the same.
            Err(error) if add(&self.counters.store_failures, 1) == 0 => {
                tracing::warn!("a compiled module can not be kept: {error}; going on without");
            }
            Err(error) => tracing::debug!("a compiled module can not be kept: {error}"),
        }
    }

    /// Answers whether the entry fits.
    fn try_store(&self, key: &CacheKey, payload: &[u8], code: &[u8]) -> io::Result<bool> {
        let (stem, binding) = (key.stem(), key.binding());
        let descriptor = Descriptor {
            code_length: code.len() as u64,
            code_mac: self.seal.code_mac(&binding, code)?,
            payload: payload.to_vec(),
        };
        let sealed = self.seal.seal(&binding, &descriptor);
        let bytes = descriptor.code_length.saturating_add(sealed.len() as u64);
        if sealed.len() as u64 > MAX_DESCRIPTOR_BYTES || bytes > self.room.max_bytes() {
            return Ok(false);
        }
        let superseded = match self.read_descriptor(key) {
            Ok(old) if old.code_mac != descriptor.code_mac => Some(old.code_mac),
            Ok(_) | Err(Miss::Absent) => None,
            // What cannot be read cannot say which code was its own.
            Err(Miss::Rejected(_) | Miss::Unreadable(_)) => {
                eviction::remove_stem(&self.folder, &stem)?;
                None
            }
        };
        self.replace(&code_name(&stem, &descriptor.code_mac), code)?;
        self.replace(&descriptor_name(&stem), &sealed)?;
        if let Some(old) = superseded {
            self.folder.remove(&code_name(&stem, &old))?;
        }
        add(
            &self.counters.evicted,
            self.room.keep(&self.folder, bytes, &stem)?,
        );
        Ok(true)
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = Temporary::write(&self.folder, content)?;
        match temporary.rename(name) {
            // A folder has the name: nothing of ours, and not in the way once it is gone.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                self.folder.remove(name)?;
                Temporary::write(&self.folder, content)?.rename(name)
            }
            result => result,
        }
    }

    pub(super) fn remove(&self, key: &CacheKey) {
        if let Err(error) = eviction::remove_stem(&self.folder, &key.stem()) {
            tracing::debug!(entry = %key.stem(), %error, "an entry of the compile cache stays");
        }
    }
}

/// Notes that an entry was used, at most once per interval. A read-only disk keeps the
/// old time, and evicts nothing either.
fn touch(file: &File, last: Option<SystemTime>) {
    // A time in the future, left by a clock that went wrong, would never be evicted.
    let is_recent = last.is_some_and(|last| last.elapsed().is_ok_and(|age| age < TOUCH_INTERVAL));
    if !is_recent {
        let _ = file.set_modified(SystemTime::now());
    }
}

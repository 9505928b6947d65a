//! How much is in a cache. Invariant: asking costs a look at the folder once in a while and
//! nothing in between; storing and looking up know nothing of it.

use std::io;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::eviction::scan;
use super::folder::PrivateFolder;

/// How long a count is answered again. Other processes store and remove, too, so it can
/// never be of this very moment.
const STAYS: Duration = Duration::from_mins(1);

/// What is in a cache, whoever put it there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// Compiled modules.
    pub entries: u64,
    /// Bytes of all their files.
    pub bytes: u64,
}

/// The latest count.
#[derive(Debug, Default)]
pub(super) struct Census {
    latest: Mutex<Option<(Instant, Contents)>>,
    /// Held by the one who counts.
    counting: Mutex<()>,
}

impl Census {
    /// What is in the folder, or was there lately. While somebody counts, others have the
    /// count before; `None`: there is none yet, or the folder can not be read.
    pub(super) fn take(&self, folder: &PrivateFolder) -> Option<Contents> {
        let latest = || *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || latest().filter(|(time, _)| time.elapsed() < STAYS);
        if let Some((_, contents)) = fresh() {
            return Some(contents);
        }
        let _counting = match self.counting.try_lock() {
            Ok(counting) => counting,
            Err(TryLockError::Poisoned(counting)) => counting.into_inner(),
            Err(TryLockError::WouldBlock) => return latest().map(|(_, contents)| contents),
        };
        let counted = count(folder).inspect_err(|error| {
            tracing::debug!("what is in the compile cache can not be counted: {error}");
        });
        let contents = counted.ok()?;
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some((Instant::now(), contents));
        Some(contents)
    }
}

fn count(folder: &PrivateFolder) -> io::Result<Contents> {
    let entries = scan(folder)?;
    Ok(Contents {
        entries: entries.len() as u64,
        bytes: entries.values().map(|entry| entry.bytes).sum(),
    })
}

//! Keeps a cache within its size. Invariant: whole entries go, the longest unused first,
//! and never the one that was just stored.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::folder::PrivateFolder;
use super::key::{FileKind, parse_name};

/// The files of one stem.
#[derive(Debug, Default)]
pub(super) struct Entry {
    files: Vec<String>,
    pub(super) bytes: u64,
    /// Of the descriptor, which is touched when the entry is used.
    descriptor_time: Option<SystemTime>,
    /// Of the newest code: what counts while its descriptor is still being written.
    code_time: Option<SystemTime>,
}

impl Entry {
    fn last_used(&self) -> Option<SystemTime> {
        self.descriptor_time.or(self.code_time)
    }
}

/// The limit of a cache, and how much may be stored before it must be looked at again.
///
/// A look at every store would make filling a cache with a thousand modules quadratic.
#[derive(Debug)]
pub(super) struct Room {
    max_bytes: u64,
    allowance: AtomicU64,
}

impl Room {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            allowance: AtomicU64::new(0),
        }
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// To be called after `bytes` were stored under `stem`. Answers how many entries went.
    pub(super) fn keep(&self, folder: &PrivateFolder, bytes: u64, stem: &str) -> io::Result<u64> {
        let spend = |left: u64| left.checked_sub(bytes);
        if self
            .allowance
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
        {
            return Ok(0);
        }
        let (total, evicted) = make_room(folder, self.max_bytes, stem)?;
        // Other processes store too and tell nobody, so each uses a part of what is free.
        let allowance = self
            .max_bytes
            .saturating_sub(total)
            .min(self.max_bytes / 16);
        self.allowance.store(allowance, Ordering::Relaxed);
        Ok(evicted)
    }
}

/// Removes entries until all together have at most `max_bytes`. Answers how many bytes
/// are left and how many entries went.
fn make_room(folder: &PrivateFolder, max_bytes: u64, just_stored: &str) -> io::Result<(u64, u64)> {
    let entries = scan(folder)?;
    let mut total: u64 = entries.values().map(|entry| entry.bytes).sum();
    let mut evicted = 0;
    if total <= max_bytes {
        return Ok((total, evicted));
    }
    let mut candidates: Vec<_> = entries
        .iter()
        .filter(|(stem, _)| *stem != just_stored)
        .map(|(_, entry)| entry)
        .collect();
    candidates.sort_by_key(|entry| entry.last_used());
    for entry in candidates {
        if total <= max_bytes {
            break;
        }
        for file in &entry.files {
            folder.remove(file)?;
        }
        total -= entry.bytes;
        evicted += 1;
    }
    Ok((total, evicted))
}

/// Removes all files of one stem.
pub(super) fn remove_stem(folder: &PrivateFolder, stem: &str) -> io::Result<()> {
    for name in folder.names()? {
        if parse_name(&name).is_some_and(|(found, _)| found == stem) {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

/// All entries, by stem.
pub(super) fn scan(folder: &PrivateFolder) -> io::Result<HashMap<String, Entry>> {
    let mut entries: HashMap<String, Entry> = HashMap::new();
    for name in folder.names()? {
        let Some((stem, kind)) = parse_name(&name) else {
            continue;
        };
        // Another process may have removed it since.
        let Some((bytes, time)) = folder.size_and_time(&name) else {
            continue;
        };
        let entry = entries.entry(stem.to_owned()).or_default();
        entry.bytes += bytes;
        match kind {
            FileKind::Descriptor => {
                entry.descriptor_time = Some(time);
                // First, so that no descriptor is left whose code is gone.
                entry.files.insert(0, name);
            }
            FileKind::Code => {
                entry.code_time = entry.code_time.max(Some(time));
                entry.files.push(name);
            }
        }
    }
    Ok(entries)
}

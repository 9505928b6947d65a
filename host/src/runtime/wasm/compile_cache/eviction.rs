//! Keeps a cache within its size. Invariant: whole entries go, the longest unused first,
//! and never the one that was just stored.

use std::collections::HashMap;
use std::io;
use std::time::SystemTime;

use super::folder::PrivateFolder;
use super::key::{FileKind, parse_name};

/// The files of one stem.
#[derive(Debug, Default)]
struct Entry {
    files: Vec<String>,
    bytes: u64,
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

/// Removes entries until all together have at most `max_bytes`. Answers how many went.
pub(super) fn make_room(
    folder: &PrivateFolder,
    max_bytes: u64,
    just_stored: &str,
) -> io::Result<u64> {
    let entries = scan(folder)?;
    let mut total: u64 = entries.values().map(|entry| entry.bytes).sum();
    if total <= max_bytes {
        return Ok(0);
    }
    let mut candidates: Vec<_> = entries
        .iter()
        .filter(|(stem, _)| *stem != just_stored)
        .map(|(_, entry)| entry)
        .collect();
    candidates.sort_by_key(|entry| entry.last_used());
    let mut evicted = 0;
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
    Ok(evicted)
}

/// Removes the files of one stem, except `keep`. Answers whether there were any.
pub(super) fn remove_stem(folder: &PrivateFolder, stem: &str, keep: &[&str]) -> io::Result<bool> {
    let mut removed = false;
    for name in folder.names()? {
        let is_of_stem = parse_name(&name).is_some_and(|(found, _)| found == stem);
        if is_of_stem && !keep.contains(&name.as_str()) {
            removed |= folder.remove(&name)?;
        }
    }
    Ok(removed)
}

fn scan(folder: &PrivateFolder) -> io::Result<HashMap<String, Entry>> {
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

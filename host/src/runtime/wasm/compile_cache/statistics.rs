//! Counts what happened to the entries. Invariant: counting never blocks.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened since a cache was opened, by this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Descriptors and codes that were found and verified.
    pub hits: u64,
    /// Look-ups that found nothing they could use, rejected entries included.
    pub misses: u64,
    /// Entries that did not verify, and were removed.
    pub rejected: u64,
    /// Entries written.
    pub stored: u64,
    /// Entries that could not be written.
    pub store_failures: u64,
    /// Entries removed to make room.
    pub evicted: u64,
}

/// The counts while they change.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hits: AtomicU64,
    pub(super) misses: AtomicU64,
    pub(super) rejected: AtomicU64,
    pub(super) stored: AtomicU64,
    pub(super) store_failures: AtomicU64,
    pub(super) evicted: AtomicU64,
}

/// Adds to a count and answers what it was.
pub(super) fn add(counter: &AtomicU64, amount: u64) -> u64 {
    counter.fetch_add(amount, Ordering::Relaxed)
}

impl Counters {
    pub(super) fn now(&self) -> Statistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            hits: read(&self.hits),
            misses: read(&self.misses),
            rejected: read(&self.rejected),
            stored: read(&self.stored),
            store_failures: read(&self.store_failures),
            evicted: read(&self.evicted),
        }
    }
}

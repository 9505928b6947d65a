//! How often something was called and how that ended, counted without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::OutcomeKind;

/// Counts calls. Numbers that are read while calls end may be of different moments.
#[derive(Debug, Default)]
pub struct Counters {
    running: AtomicU64,
    calls: AtomicU64,
    failed: AtomicU64,
    nanoseconds: AtomicU64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Calls that are running.
    pub running: u64,
    /// Calls that ended, in whatever way.
    pub calls: u64,
    /// Those of them that did not end well.
    pub failed: u64,
    /// Milliseconds that they took together.
    pub milliseconds: u64,
}

/// A call that is running.
pub(crate) struct Running<'a>(&'a Counters);

impl Counters {
    /// Counts a call that begins; it runs until the answer is dropped.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.running.fetch_add(1, Relaxed);
        Running(self)
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        Counts {
            running: self.running.load(Relaxed),
            calls: self.calls.load(Relaxed),
            failed: self.failed.load(Relaxed),
            milliseconds: self.nanoseconds.load(Relaxed) / 1_000_000,
        }
    }
}

impl Running<'_> {
    /// Counts how the call ended.
    pub fn end(self, kind: OutcomeKind, duration: Duration) {
        let Self(counters) = self;
        counters.calls.fetch_add(1, Relaxed);
        if kind != OutcomeKind::Ok {
            counters.failed.fetch_add(1, Relaxed);
        }
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        counters.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Relaxed);
    }
}

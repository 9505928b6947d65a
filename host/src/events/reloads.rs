//! Changes of a host, counted and told: what a look at the files brought.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::{HostEvent, Mended};
use crate::registry::{Broken, Snapshot};

/// How often what is in force changed since the host was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloads {
    /// Looks that brought another snapshot in which nothing is newly broken.
    pub good: u64,
    /// Looks after which something was broken that was not before, a faulty configuration
    /// included, and looks that failed themselves.
    pub failed: u64,
    /// What the last of them took; zero before the first.
    pub last: Duration,
}

/// Counts them.
#[derive(Default)]
pub(crate) struct ReloadCounters {
    good: AtomicU64,
    failed: AtomicU64,
    last: AtomicU64,
}

impl ReloadCounters {
    /// Counts a look that brought something.
    pub fn count(&self, failed: bool, took: Duration) {
        let counter = if failed { &self.failed } else { &self.good };
        counter.fetch_add(1, Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.last.store(nanoseconds, Relaxed);
    }

    /// What was counted.
    pub fn now(&self) -> Reloads {
        Reloads {
            good: self.good.load(Relaxed),
            failed: self.failed.load(Relaxed),
            last: Duration::from_nanos(self.last.load(Relaxed)),
        }
    }
}

/// What broke and what was mended from one snapshot to the next. The configuration file is
/// left out: it has events of its own.
pub(crate) fn of_broken(old: &Snapshot, new: &Snapshot) -> Vec<HostEvent> {
    let is_entry = |broken: &&Broken| broken.name != Broken::CONFIGURATION;
    let is_of = |one: &Broken, other: &Broken| one.name == other.name && one.module == other.module;
    let (before, now) = (old.broken(), new.broken());
    let broke = now.iter().filter(is_entry);
    let broke = broke.filter(|broken| !before.contains(broken));
    let mended = before.iter().filter(is_entry);
    let mended = mended.filter(|broken| !now.iter().any(|other| is_of(broken, other)));
    let mended = mended.map(|broken| {
        HostEvent::Mended(Mended {
            name: broken.name.clone(),
            module: broken.module.clone(),
            snapshot: new.number(),
        })
    });
    broke
        .map(|broken| HostEvent::Broken(broken.clone()))
        .chain(mended)
        .collect()
}

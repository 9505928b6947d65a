//! How often something was called and how that ended, counted without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::OutcomeKind;

/// Upper bounds of the classes in which the times of calls are counted; slower ones are
/// counted behind the last.
pub const LATENCY_BOUNDS: [Duration; 12] = [
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_mins(1),
];

/// Counts calls. Numbers that are read while calls end may be of different moments.
#[derive(Debug, Default)]
pub struct Counters {
    running: AtomicU64,
    nanoseconds: AtomicU64,
    outcomes: [AtomicU64; OutcomeKind::ALL.len()],
    latencies: [AtomicU64; LATENCY_BOUNDS.len() + 1],
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

/// How long calls took.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Calls in each class of [`LATENCY_BOUNDS`], and behind the last of them.
    pub counts: Vec<u64>,
    /// Seconds that they took together.
    pub seconds: f64,
}

impl Latencies {
    /// All calls.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// A call that is running. One that is dropped before it ended was cancelled.
pub(crate) struct Running<'a> {
    counters: &'a Counters,
    began: Instant,
    has_ended: bool,
}

impl Counters {
    /// Counts a call that began at that moment; it runs until the answer is dropped.
    pub(crate) fn begin(&self, began: Instant) -> Running<'_> {
        self.running.fetch_add(1, Relaxed);
        Running {
            counters: self,
            began,
            has_ended: false,
        }
    }

    fn count(&self, kind: OutcomeKind, duration: Duration) {
        self.outcomes[kind as usize].fetch_add(1, Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
        let class = LATENCY_BOUNDS.partition_point(|bound| *bound < duration);
        self.latencies[class].fetch_add(1, Relaxed);
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        let calls = self.outcomes.iter().map(|count| count.load(Relaxed)).sum();
        let well = self.outcomes[OutcomeKind::Ok as usize].load(Relaxed);
        Counts {
            running: self.running.load(Relaxed),
            calls,
            failed: calls.saturating_sub(well),
            milliseconds: self.nanoseconds.load(Relaxed) / 1_000_000,
        }
    }

    /// How many calls ended in each way, ways that never occurred left out.
    pub fn outcomes(&self) -> Vec<(OutcomeKind, u64)> {
        let counted = OutcomeKind::ALL.into_iter().zip(&self.outcomes);
        let counted = counted.map(|(kind, count)| (kind, count.load(Relaxed)));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// How long calls took.
    pub fn latencies(&self) -> Latencies {
        let counts = self.latencies.iter();
        Latencies {
            counts: counts.map(|count| count.load(Relaxed)).collect(),
            seconds: Duration::from_nanos(self.nanoseconds.load(Relaxed)).as_secs_f64(),
        }
    }
}

impl Running<'_> {
    /// Counts how the call ended.
    pub fn end(mut self, kind: OutcomeKind, duration: Duration) {
        self.has_ended = true;
        self.counters.count(kind, duration);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let kind = OutcomeKind::of_abandoned();
            self.counters.count(kind, self.began.elapsed());
        }
        self.counters.running.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_and_every_time_has_its_place() {
        let counters = Counters::default();
        for (index, kind) in OutcomeKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            counters
                .begin(Instant::now())
                .end(kind, Duration::from_millis(1));
        }
        counters
            .begin(Instant::now())
            .end(OutcomeKind::Ok, Duration::from_hours(1));
        let running = counters.begin(Instant::now());
        let counts = counters.counts();
        let all = OutcomeKind::ALL.len() as u64;
        assert_eq!(
            (counts.calls, counts.failed, counts.running),
            (all + 1, all - 1, 1)
        );
        drop(running);
        let counts = counters.counts();
        assert_eq!((counts.calls, counts.running), (all + 2, 0));
        let cancelled = (OutcomeKind::Cancelled, 2);
        assert!(counters.outcomes().contains(&cancelled), "nobody waited");
        assert_eq!(counters.outcomes()[0], (OutcomeKind::Ok, 2));
        let latencies = counters.latencies();
        assert_eq!(latencies.counts[1], all);
        assert_eq!(latencies.counts.last(), Some(&1));
        assert_eq!(latencies.total(), all + 2);
    }
}

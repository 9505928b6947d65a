//! `prx:skill/progress`: how far a call has come, never backwards and never in floods.

use std::time::{Duration, Instant};

use crate::model::{Event, Progress};
use crate::runtime::wasm::abi::skill::bindings::progress::{Amount, Host};
use crate::runtime::wasm::call_state::CallState;

/// Reports that pass at any speed; later ones at most one per [`INTERVAL`].
const FREE_REPORTS: u32 = 100;
/// The pace of a talkative guest.
const INTERVAL: Duration = Duration::from_millis(100);

/// What a call has reported.
#[derive(Debug, Default)]
pub struct Budget {
    reports: u32,
    done: Option<f64>,
    last: Option<Instant>,
}

impl Budget {
    fn admits(&mut self, done: f64, total: Option<f64>) -> bool {
        let is_back = self.done.is_some_and(|before| done < before);
        let is_over = total.is_some_and(|total| done > total);
        if !done.is_finite() || done < 0.0 || is_back || is_over {
            return false;
        }
        if self.reports >= FREE_REPORTS {
            let now = Instant::now();
            if self
                .last
                .is_some_and(|last| now.duration_since(last) < INTERVAL)
            {
                return false;
            }
            self.last = Some(now);
        }
        self.reports = self.reports.saturating_add(1);
        self.done = Some(done);
        true
    }
}

impl Host for CallState {
    fn report(&mut self, amount: Amount, message: Option<String>) -> wasmtime::Result<()> {
        let Some(events) = &self.services.events else {
            return Ok(());
        };
        #[allow(
            clippy::cast_precision_loss,
            reason = "a count past 2^53 needs no exact progress"
        )]
        let (done, total) = match amount {
            Amount::Fraction(done) => (done, Some(1.0)),
            Amount::Count(count) => (count.done as f64, count.total.map(|total| total as f64)),
        };
        if self.services.progress.admits(done, total) {
            events(Event::Progress(Progress {
                done,
                total,
                message: message.as_deref(),
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_never_goes_backwards_and_ignores_nonsense() {
        let mut budget = Budget::default();
        assert!(budget.admits(0.0, None));
        assert!(budget.admits(0.5, None));
        assert!(!budget.admits(0.25, None));
        assert!(!budget.admits(f64::NAN, None));
        assert!(!budget.admits(f64::INFINITY, None));
        assert!(!budget.admits(-1.0, None));
        assert!(budget.admits(0.5, None));
        assert!(!budget.admits(7.0, Some(1.0)));
        assert!(budget.admits(1.0, Some(1.0)));
    }

    #[test]
    fn a_flood_of_reports_is_thinned() {
        let mut budget = Budget::default();
        let admitted = (0..1_000_000)
            .filter(|n| budget.admits(f64::from(*n), None))
            .count();
        assert!(admitted >= FREE_REPORTS as usize, "{admitted}");
        assert!(admitted < 10_000, "{admitted}");
    }
}

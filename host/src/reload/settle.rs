//! Waiting until a change is over: files are replaced in several steps.
//!
//! Invariant: it ends, however often something changes.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How many windows a storm of changes can delay.
const MOST_WINDOWS: u32 = 10;

/// Waits until nothing was signalled for `window`, at most for ten windows.
pub(super) async fn settle(changes: &Notify, window: Duration) {
    let first = Instant::now();
    let mut latest = first;
    while timeout_at(end(first, latest, window), changes.notified())
        .await
        .is_ok()
    {
        latest = Instant::now();
    }
}

/// When a change is over that began and was last heard of at these moments.
fn end(first: Instant, latest: Instant, window: Duration) -> Instant {
    (latest + window).min(first + window * MOST_WINDOWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_millis(50);

    #[test]
    fn a_change_is_over_after_a_window_without_another() {
        let first = Instant::now();
        assert_eq!(end(first, first, WINDOW), first + WINDOW);
        let latest = first + 3 * WINDOW;
        assert_eq!(end(first, latest, WINDOW), latest + WINDOW);
    }

    #[test]
    fn constant_changes_can_not_starve_it() {
        let first = Instant::now();
        for windows in [10, 11, 1000] {
            let latest = first + windows * WINDOW;
            assert_eq!(end(first, latest, WINDOW), first + MOST_WINDOWS * WINDOW);
        }
    }

    #[tokio::test]
    async fn it_ends_though_somebody_never_stops() {
        let changes = Notify::new();
        let noise = async {
            loop {
                changes.notify_one();
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = settle(&changes, Duration::from_millis(1)) => {}
            () = noise => {}
        }
    }
}

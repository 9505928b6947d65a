//! How much is called: what the running hosts have counted, and how fast it grows.

use std::collections::HashMap;
use std::time::Instant;

use prx_host::Notice;
use prx_host::model::Counts;

/// What was counted at the last look.
#[derive(Default)]
pub struct Rates {
    last: Option<(Instant, HashMap<Counted, u64>)>,
}

/// A tool of one host.
type Counted = (u32, String, String);

/// What all hosts together have counted for one tool.
#[derive(Clone, Copy, Default)]
pub struct Rate {
    /// The sum of all hosts.
    pub counts: Counts,
    /// Calls per second since the last look; `None` at the first.
    pub per_second: Option<f64>,
}

impl Rates {
    /// Adds up what the hosts say.
    pub fn look(&mut self, hosts: &[Notice]) -> HashMap<String, Rate> {
        self.look_at(hosts, Instant::now())
    }

    fn look_at(&mut self, hosts: &[Notice], now: Instant) -> HashMap<String, Rate> {
        let last = self.last.take();
        let (mut counted, mut rates) = (HashMap::new(), HashMap::<String, Rate>::new());
        for host in hosts {
            for tool in &host.tools {
                let rate = rates.entry(tool.name.clone()).or_default();
                rate.counts.calls += tool.counts.calls;
                rate.counts.failed += tool.counts.failed;
                rate.counts.running += tool.counts.running;
                rate.counts.milliseconds += tool.counts.milliseconds;
                let key = (host.pid, host.started.clone(), tool.name.clone());
                if let Some((then, before)) = &last {
                    // What a host counted before it was first seen is no speed.
                    let before = before.get(&key).copied().unwrap_or(tool.counts.calls);
                    let more = tool.counts.calls.saturating_sub(before);
                    let seconds = now.duration_since(*then).as_secs_f64().max(1e-3);
                    #[allow(clippy::cast_precision_loss, reason = "it is shown with one digit")]
                    let speed = more as f64 / seconds;
                    *rate.per_second.get_or_insert(0.0) += speed;
                }
                counted.insert(key, tool.counts.calls);
            }
        }
        self.last = Some((now, counted));
        rates
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prx_host::NoticeTool;

    use super::*;

    fn host(pid: u32, calls: u64) -> Notice {
        Notice {
            pid,
            started: String::new(),
            config: None,
            snapshot: 1,
            since: String::new(),
            reload_ms: 0,
            tools: vec![NoticeTool {
                name: "a".into(),
                backend: "wasm".into(),
                version: None,
                since: String::new(),
                counts: Counts {
                    calls,
                    ..Counts::default()
                },
            }],
            broken: Vec::new(),
            needs_restart: Vec::new(),
        }
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "these numbers are exact")]
    fn calls_of_all_hosts_are_added_and_their_growth_is_the_speed() {
        let (mut rates, start) = (Rates::default(), Instant::now());
        let first = rates.look_at(&[host(1, 10), host(2, 5)], start)["a"];
        assert_eq!((first.counts.calls, first.per_second), (15, None));
        let later = start + Duration::from_secs(2);
        // One more host, which has called before it was seen.
        let all = [host(1, 30), host(2, 5), host(3, 100)];
        let second = rates.look_at(&all, later)["a"];
        assert_eq!((second.counts.calls, second.per_second), (135, Some(10.0)));
        assert!(rates.look_at(&[], later).is_empty());
    }
}

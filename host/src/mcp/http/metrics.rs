//! The numbers of a host as Prometheus reads them.

use std::fmt::Write as _;

use super::door::Door;
use super::sessions::Sessions;
use crate::host::Host;
use crate::mcp::Server;
use crate::model::LATENCY_BOUNDS;

/// All numbers of this moment.
pub(super) fn text(server: &Server, sessions: &Sessions, door: &Door) -> String {
    let mut text = of_host(&server.host);
    let waiting = |free: usize, all: usize| all.saturating_sub(free) as u64;
    let options = &server.options;
    let begun = waiting(
        server.queue.available_permits(),
        options.max_calls + options.max_waiting,
    );
    let running = waiting(server.calls.available_permits(), options.max_calls);
    for (name, help, value) in [
        (
            "prx_host_waiting_calls",
            "Calls that wait for a place.",
            begun.saturating_sub(running),
        ),
        (
            "prx_host_http_sessions",
            "Sessions that were begun and have not ended.",
            sessions.count() as u64,
        ),
        (
            "prx_host_http_connections",
            "Connections that are open.",
            door.count() as u64,
        ),
    ] {
        gauge(&mut text, name, help, value);
    }
    text
}

fn of_host(host: &Host) -> String {
    let snapshot = host.snapshot();
    let mut text = String::new();
    gauge(
        &mut text,
        "prx_host_snapshot",
        "Number of the snapshot in force.",
        snapshot.number(),
    );
    gauge(
        &mut text,
        "prx_host_tools",
        "Tools that can be called.",
        snapshot.tools().len() as u64,
    );
    let broken = snapshot.broken().len() as u64;
    gauge(
        &mut text,
        "prx_host_broken",
        "What is broken, also where an earlier version serves.",
        broken,
    );
    #[cfg(feature = "wasm-runtime")]
    cache(&mut text, host);
    head(
        &mut text,
        "prx_host_calls_total",
        "counter",
        "Calls that ended, by tool and outcome.",
    );
    for tool in snapshot.tools() {
        for (kind, count) in tool.counters().outcomes() {
            let name = tool.name();
            let _ = writeln!(
                text,
                "prx_host_calls_total{{tool=\"{name}\",outcome=\"{kind}\"}} {count}"
            );
        }
    }
    head(
        &mut text,
        "prx_host_running_calls",
        "gauge",
        "Calls that are running.",
    );
    for tool in snapshot.tools() {
        let running = tool.counters().counts().running;
        let _ = writeln!(
            text,
            "prx_host_running_calls{{tool=\"{}\"}} {running}",
            tool.name()
        );
    }
    head(
        &mut text,
        "prx_host_call_seconds",
        "histogram",
        "How long calls took.",
    );
    for tool in snapshot.tools() {
        let (name, latencies) = (tool.name(), tool.counters().latencies());
        let mut sum = 0;
        for (bound, count) in LATENCY_BOUNDS.iter().zip(&latencies.counts) {
            sum += count;
            let bound = bound.as_secs_f64();
            let _ = writeln!(
                text,
                "prx_host_call_seconds_bucket{{tool=\"{name}\",le=\"{bound}\"}} {sum}"
            );
        }
        let (total, seconds) = (latencies.total(), latencies.seconds);
        let _ = writeln!(
            text,
            "prx_host_call_seconds_bucket{{tool=\"{name}\",le=\"+Inf\"}} {total}"
        );
        let _ = writeln!(
            text,
            "prx_host_call_seconds_sum{{tool=\"{name}\"}} {seconds}"
        );
        let _ = writeln!(
            text,
            "prx_host_call_seconds_count{{tool=\"{name}\"}} {total}"
        );
    }
    text
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn gauge(text: &mut String, name: &str, help: &str, value: u64) {
    head(text, name, "gauge", help);
    let _ = writeln!(text, "{name} {value}");
}

#[cfg(feature = "wasm-runtime")]
fn cache(text: &mut String, host: &Host) {
    let found = host.cache_statistics();
    head(
        text,
        "prx_host_cache_lookups_total",
        "counter",
        "Look-ups of compiled modules.",
    );
    let _ = writeln!(
        text,
        "prx_host_cache_lookups_total{{result=\"hit\"}} {}",
        found.hits
    );
    let _ = writeln!(
        text,
        "prx_host_cache_lookups_total{{result=\"miss\"}} {}",
        found.misses
    );
}

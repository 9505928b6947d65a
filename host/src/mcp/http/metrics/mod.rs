//! The numbers of a host as Prometheus reads them.
//!
//! Invariant: labels have few values. Tools are those of the snapshot; names that clients
//! invent are nobody's.

mod exposition;
#[cfg(test)]
mod strict;

use self::exposition::Exposition;
use super::door::Door;
use super::sessions::Sessions;
#[cfg(feature = "wasm-runtime")]
use crate::CacheContents;
use crate::host::Host;
use crate::mcp::Server;
use crate::model::{Counters, LATENCY_BOUNDS};

/// What the format is called in a header.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All numbers of this moment.
pub(super) async fn text(server: &Server, sessions: &Sessions, door: &Door) -> String {
    let mut text = of_host(&server.host);
    #[cfg(feature = "wasm-runtime")]
    {
        let host = server.host.clone();
        let contents = server.look(move || host.cache_contents()).await;
        if let Some(contents) = contents.ok().flatten() {
            kept(&mut text, contents);
        }
    }
    text.gauge(
        "prx_host_waiting_calls",
        "Calls that wait for a place.",
        server.waiting(),
    );
    text.gauge(
        "prx_host_answer_bytes",
        "Bytes of large answers that clients have not taken yet.",
        server.memory.of_answers(),
    );
    text.gauge(
        "prx_host_http_sessions",
        "Sessions that were begun and have not ended.",
        sessions.count(),
    );
    text.gauge(
        "prx_host_http_connections",
        "Connections that are open.",
        door.count(),
    );
    text.finish()
}

fn of_host(host: &Host) -> Exposition {
    let snapshot = host.snapshot();
    let mut text = Exposition::default();
    text.gauge(
        "prx_host_snapshot",
        "Number of the snapshot in force.",
        snapshot.number(),
    );
    text.gauge(
        "prx_host_tools",
        "Tools that can be called.",
        snapshot.tools().len(),
    );
    text.gauge(
        "prx_host_broken",
        "What is broken, also where an earlier version serves.",
        snapshot.broken().len(),
    );
    reloads(&mut text, host);
    #[cfg(feature = "wasm-runtime")]
    {
        cache(&mut text, host);
        places(&mut text, host);
    }
    let counted: Vec<_> = snapshot
        .tools()
        .map(|tool| (tool.name(), tool.counters().as_ref()))
        .collect();
    calls(&mut text, &counted);
    text
}

fn reloads(text: &mut Exposition, host: &Host) {
    let reloads = host.reloads();
    let mut family = text.family(
        "prx_host_reloads_total",
        "counter",
        "Changes of what is in force; failed where something is broken that was not before.",
    );
    family.sample("", &[("result", "ok")], reloads.good);
    family.sample("", &[("result", "failed")], reloads.failed);
    text.gauge(
        "prx_host_last_reload_seconds",
        "How long the last change took; 0 before the first.",
        reloads.last.as_secs_f64(),
    );
}

#[cfg(feature = "wasm-runtime")]
fn cache(text: &mut Exposition, host: &Host) {
    let found = host.cache_statistics();
    let mut family = text.family(
        "prx_host_cache_lookups_total",
        "counter",
        "Look-ups of compiled modules, of their descriptions and of their code.",
    );
    family.sample("", &[("result", "hit")], found.hits);
    family.sample("", &[("result", "miss")], found.misses);
    for (name, help, value) in [
        (
            "prx_host_cache_stored_total",
            "Entries that this host wrote.",
            found.stored,
        ),
        (
            "prx_host_cache_rejected_total",
            "Entries that did not verify and were removed.",
            found.rejected,
        ),
        (
            "prx_host_cache_evicted_total",
            "Entries that this host removed to make room.",
            found.evicted,
        ),
    ] {
        text.counter(name, help, value);
    }
}

/// What is in the cache, which other hosts fill, too.
#[cfg(feature = "wasm-runtime")]
fn kept(text: &mut Exposition, contents: CacheContents) {
    text.gauge(
        "prx_host_cache_entries",
        "Compiled modules in the cache, those of other hosts included; counted once a minute.",
        contents.entries,
    );
    text.gauge(
        "prx_host_cache_bytes",
        "Bytes of their files.",
        contents.bytes,
    );
}

/// Instances of modules. A call has one, from its place in the pool to its end.
#[cfg(feature = "wasm-runtime")]
fn places(text: &mut Exposition, host: &Host) {
    let Some((taken, all)) = host.places_taken() else {
        return;
    };
    text.gauge(
        "prx_host_places_taken",
        "Places of the engine's pool in which instances of modules are.",
        taken,
    );
    text.gauge(
        "prx_host_places",
        "Places that the engine's pool has; calls beyond wait for one.",
        all,
    );
}

fn calls(text: &mut Exposition, counted: &[(&str, &Counters)]) {
    let mut family = text.family(
        "prx_host_calls_total",
        "counter",
        "Calls that ended, by tool and outcome.",
    );
    for (tool, counters) in counted {
        for (kind, count) in counters.outcomes() {
            let labels = [("tool", *tool), ("outcome", kind.as_str())];
            family.sample("", &labels, count);
        }
    }
    let mut family = text.family(
        "prx_host_running_calls",
        "gauge",
        "Calls that are running, each in an instance, process or container of its own.",
    );
    for (tool, counters) in counted {
        family.sample("", &[("tool", tool)], counters.counts().running);
    }
    let mut family = text.family(
        "prx_host_call_seconds",
        "histogram",
        "How long calls took, from their acceptance to their end.",
    );
    for (tool, counters) in counted {
        let latencies = counters.latencies();
        let (mut sum, of_tool) = (0, ("tool", *tool));
        for (bound, count) in LATENCY_BOUNDS.iter().zip(&latencies.counts) {
            sum += count;
            let bound = bound.as_secs_f64().to_string();
            family.sample("_bucket", &[of_tool, ("le", &bound)], sum);
        }
        let total = latencies.total();
        family.sample("_bucket", &[of_tool, ("le", "+Inf")], total);
        family.sample("_sum", &[of_tool], latencies.seconds);
        family.sample("_count", &[of_tool], total);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::strict::Families;
    use super::*;
    use crate::model::OutcomeKind;

    /// The samples of a family, read back strictly.
    fn read(text: &str) -> Families {
        Families::read(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
    }

    #[test]
    fn calls_are_written_as_the_format_wants_them_whatever_a_tool_is_called() {
        let (one, other) = (Counters::default(), Counters::default());
        for (kind, time) in [
            (OutcomeKind::Ok, Duration::from_micros(50)),
            (OutcomeKind::Ok, Duration::from_millis(3)),
            (OutcomeKind::TimedOut, Duration::from_hours(1)),
        ] {
            one.begin(Instant::now()).end(kind, time);
        }
        let _running = other.begin(Instant::now());
        let odd = "a\\b\"c\nd";
        let mut text = Exposition::default();
        calls(&mut text, &[("plain", &one), (odd, &other)]);
        let families = read(&text.finish());
        let value = |name, labels: &[(&str, &str)]| families.value(name, labels);
        let ok = [("tool", "plain"), ("outcome", "ok")];
        assert_eq!(value("prx_host_calls_total", &ok), Some(2.0));
        assert_eq!(value("prx_host_running_calls", &[("tool", odd)]), Some(1.0));
        let bucket = |le| {
            let labels = [("tool", "plain"), ("le", le)];
            value("prx_host_call_seconds_bucket", &labels)
        };
        assert_eq!(bucket("0.0001"), Some(1.0));
        assert_eq!(bucket("0.005"), Some(2.0));
        assert_eq!(bucket("60"), Some(2.0));
        assert_eq!(bucket("+Inf"), Some(3.0));
    }

    #[tokio::test]
    async fn all_numbers_of_a_host_are_well_formed() {
        let folder = tempfile::tempdir().unwrap();
        let environment = crate::config::Environment::new(folder.path());
        let environment = environment.with("HOME", folder.path());
        let discovered = crate::config::discover(None, &environment).unwrap();
        let loaded = crate::config::Config::load(&discovered, &environment).unwrap();
        let builder = Host::builder(loaded.config).environment(environment);
        let host = builder.open().await.unwrap();
        host.call("no \"tool\"", "", crate::model::CallOptions::default())
            .await;
        let families = read(&of_host(&host).finish());
        assert_eq!(families.value("prx_host_snapshot", &[]), Some(1.0));
        let failed = [("result", "failed")];
        assert_eq!(families.value("prx_host_reloads_total", &failed), Some(0.0));
        assert_eq!(families.kind("prx_host_call_seconds"), Some("histogram"));
        assert!(
            !of_host(&host).finish().contains("no \\\"tool"),
            "names of nobody"
        );
    }
}

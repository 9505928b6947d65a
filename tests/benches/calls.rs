//! Calls of a trivial skill through the host, against a bare wasmtime loop with the same
//! engine settings in the same run; the same without a pool; how calls scale with workers.

mod bare;

use std::time::{Duration, Instant};

use prx_host::Host;
use prx_host::bench::{Allocation, Engine};
use prx_host::config::{Config, Environment};
use prx_host::model::{CallOptions, Outcome};
use serde_json::json;

/// Calls before measuring, and measured calls of each of the rounds.
const WARM_UP: usize = 500;
const CALLS: usize = 4_000;
/// Host and bare loop take turns, so that a noisy moment hits both.
const ROUNDS: usize = 6;
/// How long each round of the throughput measurement runs.
const SPAN: Duration = Duration::from_millis(1500);

const ARGUMENTS: &str = r#"{"text":"The quick brown fox","numbers":[1,2,3,4,5]}"#;

fn main() -> anyhow::Result<()> {
    let guest = prx_tests::guest("trivial")?;
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("modules"))?;
    std::fs::copy(&guest, folder.path().join("modules/trivial.wasm"))?;
    let single = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;

    let host = single.block_on(open(folder.path(), Allocation::default()))?;
    let bare = bare_loop(&guest, Allocation::default())?;
    let (ours, baseline) = single.block_on(compare(host.clone(), bare))?;
    row(
        "call of a trivial skill, p50",
        "us",
        ours.0,
        Some(baseline.0),
        Some("ratio <= 1.25"),
    );
    row(
        "call of a trivial skill, p95",
        "us",
        ours.1,
        Some(baseline.1),
        Some("ratio <= 1.25"),
    );

    let on_demand = single.block_on(open(folder.path(), Allocation::OnDemand))?;
    let on_demand_bare = bare_loop(&guest, Allocation::OnDemand)?;
    let (on_demand, on_demand_bare) = single.block_on(compare(on_demand, on_demand_bare))?;
    row(
        "the same without a pool, p50",
        "us",
        on_demand.0,
        Some(on_demand_bare.0),
        None,
    );
    row(
        "pooled against on-demand, p50",
        "us",
        ours.0,
        Some(on_demand.0),
        None,
    );

    let double = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (mut one, mut two) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS / 2 {
        one = one.max(single.block_on(throughput(&host, 2))?);
        two = two.max(double.block_on(throughput(&host, 4))?);
    }
    row("calls per second, 1 worker", "1/s", one, None, None);
    row(
        "calls per second, 2 workers",
        "1/s",
        two,
        Some(one),
        Some("ratio >= 1.7"),
    );
    Ok(())
}

/// The module, compiled with the host's own engine settings.
fn bare_loop(module: &std::path::Path, allocation: Allocation) -> anyhow::Result<bare::Loop> {
    let engine = Engine::new(allocation).map_err(anyhow::Error::msg)?;
    let component = engine
        .compile(&std::fs::read(module)?)
        .map_err(anyhow::Error::msg)?;
    bare::Loop::link(engine, &component)
}

async fn open(folder: &std::path::Path, allocation: Allocation) -> anyhow::Result<Host> {
    let environment = Environment::new(folder).with("HOME", folder);
    let text = "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\nstate_path = \"state\"\n";
    let config = Config::from_toml(text, &folder.join("config.toml"), &environment)?.config;
    Ok(Host::builder(config)
        .environment(environment)
        .allocation(allocation)
        .open()
        .await?)
}

/// The middle and the slow end of the times of both, in microseconds.
async fn compare(host: Host, bare: bare::Loop) -> anyhow::Result<((f64, f64), (f64, f64))> {
    // On a worker, where a host's calls run.
    tokio::spawn(async move {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let calls = if round == 0 { WARM_UP } else { CALLS };
            let mut mine = Vec::with_capacity(calls);
            for _ in 0..calls {
                let started = Instant::now();
                call(&host).await?;
                mine.push(started.elapsed());
            }
            let mut others = Vec::with_capacity(calls);
            for _ in 0..calls {
                let started = Instant::now();
                bare.call("trivial", ARGUMENTS).await?;
                others.push(started.elapsed());
            }
            if round > 0 {
                ours.append(&mut mine);
                theirs.append(&mut others);
            }
        }
        Ok((quantiles(ours), quantiles(theirs)))
    })
    .await?
}

async fn call(host: &Host) -> anyhow::Result<()> {
    match host
        .call("trivial", ARGUMENTS, CallOptions::default())
        .await
        .outcome
    {
        Outcome::Ok(output) => {
            anyhow::ensure!(output.structured == Some(json!({"characters": 19, "sum": 15})));
            Ok(())
        }
        other => anyhow::bail!("{other:?}"),
    }
}

fn quantiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
    (at(50), at(95))
}

/// Calls per second of `callers` that call without pause.
async fn throughput(host: &Host, callers: usize) -> anyhow::Result<f64> {
    let started = Instant::now();
    let callers: Vec<_> = (0..callers)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move {
                let mut calls = 0_u32;
                while started.elapsed() < SPAN {
                    call(&host).await?;
                    calls += 1;
                }
                anyhow::Ok(calls)
            })
        })
        .collect();
    let mut calls = 0;
    for caller in callers {
        calls += caller.await??;
    }
    Ok(f64::from(calls) / started.elapsed().as_secs_f64())
}

fn row(name: &str, unit: &str, ours: f64, baseline: Option<f64>, goal: Option<&str>) {
    println!(
        "{}",
        json!({"name": name, "unit": unit, "ours": ours, "baseline": baseline, "goal": goal})
    );
}

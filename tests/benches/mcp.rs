//! Calls over the Model Context Protocol: a trivial skill through the program, against the
//! same tool written natively on the same library, over standard streams and over HTTP, by a
//! client that does nothing but write bytes and look for the answer.

mod wire;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::json;
use wire::{http, native, stdio};

/// Calls before measuring, and measured calls of each of the rounds.
const WARM_UP: usize = 500;
const CALLS: usize = 2_000;
/// Both servers take turns, so that a noisy moment hits both, and are started anew for each
/// round.
const ROUNDS: usize = 12;
/// How long each round of the throughput measurement runs, and with how many connections.
const SPAN: Duration = Duration::from_millis(1500);
const CONNECTIONS: usize = 8;
/// Lists while guests spin.
const LISTS: usize = 200;

const CONFIG: &str =
    "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\nstate_path = \"state\"\n";

fn main() -> anyhow::Result<()> {
    if let Ok(transport) = std::env::var(native::ROLE) {
        return native::serve(&transport);
    }
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("modules"))?;
    let guest = prx_tests::guest("trivial")?;
    std::fs::copy(&guest, folder.path().join("modules/trivial.wasm"))?;
    std::fs::write(folder.path().join("config.toml"), CONFIG)?;
    over_stdio(folder.path())?;
    over_http(folder.path())?;
    let spinning = prx_tests::guest("time")?;
    std::fs::copy(&spinning, folder.path().join("modules/time.wasm"))?;
    while_guests_spin(folder.path())
}

/// A list while as many guests compute without pause as there are threads.
fn while_guests_spin(folder: &Path) -> anyhow::Result<()> {
    let mut client = stdio::Client::start(program(folder, &[])?)?;
    client.wait_for_tool("time_spin")?;
    let threads = std::thread::available_parallelism()?;
    for _ in 0..threads.get() {
        client.begin_call("time_spin")?;
    }
    let (_, p95) = quantiles(times(LISTS, || client.list())?);
    println!(
        "{}",
        json!({
            "name": "MCP stdio list while guests spin on all processors, p95",
            "unit": "ms",
            "ours": p95 / 1e3,
            "baseline": null,
            "goal": "ours < 20",
        })
    );
    Ok(())
}

/// On one processor, where both sides show what they cost, and wherever the system puts them,
/// which is a matter of chance: to wake somebody on another processor takes longer than a call.
fn over_stdio(folder: &Path) -> anyhow::Result<()> {
    let name = "MCP stdio call of a trivial skill";
    let all = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu));
    one.set(first.context("a processor")?);
    sched_setaffinity(None, &one)?;
    let (mine, others) = compared(folder)?;
    sched_setaffinity(None, &all)?;
    let goal = Some("ratio <= 1.25");
    row(&format!("{name}, p50"), "us", mine.0, others.0, goal);
    row(&format!("{name}, p95"), "us", mine.1, others.1, None);
    let (mine, others) = compared(folder)?;
    let name = format!("{name}, on any processors");
    row(&format!("{name}, p50"), "us", mine.0, others.0, None);
    row(&format!("{name}, p95"), "us", mine.1, others.1, None);
    Ok(())
}

/// The middle and the slow end of the times of both, in microseconds. What this thread starts
/// runs where it runs itself.
fn compared(folder: &Path) -> anyhow::Result<((f64, f64), (f64, f64))> {
    let (mut mine, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut ours = stdio::Client::start(program(folder, &[])?)?;
        let mut native = stdio::Client::start(itself("stdio")?)?;
        ours.wait_for_tool("trivial")?;
        times(WARM_UP, || ours.call())?;
        times(WARM_UP, || native.call())?;
        mine.extend(times(CALLS, || ours.call())?);
        others.extend(times(CALLS, || native.call())?);
    }
    Ok((quantiles(mine), quantiles(others)))
}

fn over_http(folder: &Path) -> anyhow::Result<()> {
    let (mut mine, mut others) = (Vec::new(), Vec::new());
    let (mut my_rate, mut other_rate) = (0.0_f64, 0.0_f64);
    for round in 0..ROUNDS {
        let ours = Server::start(program(folder, &["--http", "127.0.0.1:0"])?)?;
        let native = Server::start(itself("http")?)?;
        let mut ready = http::Client::connect(ours.port)?;
        let mut theirs = http::Client::connect(native.port)?;
        ready.wait_for_tool()?;
        times(WARM_UP, || ready.call())?;
        times(WARM_UP, || theirs.call())?;
        mine.extend(times(CALLS / 2, || ready.call())?);
        others.extend(times(CALLS / 2, || theirs.call())?);
        if round < ROUNDS / 3 {
            my_rate = my_rate.max(rate(ours.port)?);
            other_rate = other_rate.max(rate(native.port)?);
        }
    }
    let (mine, others) = (quantiles(mine), quantiles(others));
    let name = "MCP HTTP call of a trivial skill, p50";
    row(name, "us", mine.0, others.0, Some("ratio <= 1.25"));
    let name = format!("MCP HTTP calls per second, {CONNECTIONS} connections");
    row(&name, "1/s", my_rate, other_rate, Some("ratio >= 0.8"));
    Ok(())
}

/// The program as a server.
fn program(folder: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let program = std::env::var_os("PRX_BENCH_PROGRAM");
    let mut command = Command::new(program.context("PRX_BENCH_PROGRAM names no program")?);
    command
        .arg("--config")
        .arg(folder.join("config.toml"))
        .arg("serve")
        .args(arguments);
    Ok(command)
}

/// This program as the server to compare with.
fn itself(transport: &str) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(native::ROLE, transport);
    Ok(command)
}

/// A server over HTTP, which ends with this.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it; it says its address on standard error.
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let complaints = child.stderr.take().context("a pipe")?;
        let port = http::port_said_in(complaints)?;
        Ok(Self { child, port })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls per second over several connections that call without pause.
fn rate(port: u16) -> anyhow::Result<f64> {
    let started = Instant::now();
    let begin = |_| {
        std::thread::spawn(move || {
            let mut client = http::Client::connect(port)?;
            let mut calls = 0_u32;
            while started.elapsed() < SPAN {
                client.call()?;
                calls += 1;
            }
            anyhow::Ok(calls)
        })
    };
    let connections: Vec<_> = (0..CONNECTIONS).map(begin).collect();
    let mut calls = 0;
    for connection in connections {
        calls += connection.join().expect("it does not panic")?;
    }
    Ok(f64::from(calls) / started.elapsed().as_secs_f64())
}

fn times(
    calls: usize,
    mut call: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Duration>> {
    let one = |_| {
        let started = Instant::now();
        call()?;
        Ok(started.elapsed())
    };
    (0..calls).map(one).collect()
}

fn quantiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
    (at(50), at(95))
}

fn row(name: &str, unit: &str, ours: f64, baseline: f64, goal: Option<&str>) {
    println!(
        "{}",
        json!({"name": name, "unit": unit, "ours": ours, "baseline": baseline, "goal": goal})
    );
}

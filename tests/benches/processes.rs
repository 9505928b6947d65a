//! Whole processes and whole folders: one call of the program against a minimal program
//! that loads the same compiled component, and opening a host on a thousand modules.

mod bare;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use prx_host::Host;
use prx_host::bench::{Allocation, Engine};
use prx_host::config::{Config, Environment};
use serde_json::json;
use wasmtime::component::Component;

/// Runs of each process.
const RUNS: usize = 60;
const MODULES: u16 = 1_000;
const ARGUMENTS: &str = r#"{"text":"The quick brown fox","numbers":[1,2,3,4,5]}"#;
/// Tells this program to be the minimal one: the path of the compiled component.
const MINIMAL: &str = "PRX_BENCH_MINIMAL";
/// Tells this program to open the folder once and say what it cost.
const OPEN: &str = "PRX_BENCH_OPEN";

fn main() -> anyhow::Result<()> {
    if let Some(compiled) = std::env::var_os(MINIMAL) {
        return minimal(Path::new(&compiled));
    }
    if let Some(folder) = std::env::var_os(OPEN) {
        return open_once(Path::new(&folder));
    }
    let guest = prx_tests::guest("trivial")?;
    one_call(&guest)?;
    many_modules(&guest)
}

/// What there is to do at the very least: load, link, call, print.
fn minimal(compiled: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let engine = Engine::new(Allocation::OnDemand).map_err(anyhow::Error::msg)?;
    // SAFETY: this program's parent has serialised the file with the same engine.
    let component = unsafe { Component::deserialize_file(engine.wasmtime(), compiled) }
        .map_err(anyhow::Error::msg)?;
    let skill = bare::Loop::link(engine, &component)?;
    println!("{}", runtime.block_on(skill.call("trivial", ARGUMENTS))?);
    Ok(())
}

fn one_call(guest: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let modules = folder.path().join("modules");
    std::fs::create_dir(&modules)?;
    std::fs::copy(guest, modules.join("trivial.wasm"))?;
    std::fs::write(folder.path().join("config.toml"), CONFIG)?;
    let compiled = folder.path().join("trivial.compiled");
    let engine = Engine::new(Allocation::OnDemand).map_err(anyhow::Error::msg)?;
    let component = engine
        .compile(&std::fs::read(guest)?)
        .map_err(anyhow::Error::msg)?;
    std::fs::write(
        &compiled,
        component.serialize().map_err(anyhow::Error::msg)?,
    )?;

    // Both as they are where they were installed: what a linker wrote piece by piece is in
    // small pieces in memory, too, and takes a third longer to start.
    let program =
        std::env::var_os("PRX_BENCH_PROGRAM").context("PRX_BENCH_PROGRAM names no program")?;
    let installed = folder.path().join("prx-host");
    std::fs::copy(&program, &installed)?;
    let minimal = folder.path().join("minimal");
    std::fs::copy(std::env::current_exe()?, &minimal)?;
    let ours = || {
        let mut command = Command::new(&installed);
        command
            .arg("--config")
            .arg(folder.path().join("config.toml"));
        command.args(["call", "trivial", ARGUMENTS]);
        command
    };
    let theirs = || {
        let mut command = Command::new(&minimal);
        command.env(MINIMAL, &compiled);
        command
    };
    let (mut mine, mut others) = (Vec::new(), Vec::new());
    for run in 0..=RUNS {
        let (a, b) = (time(ours())?, time(theirs())?);
        // The first run fills the cache.
        if run > 0 {
            mine.push(a);
            others.push(b);
        }
    }
    let (mine, others) = (median(mine), median(others));
    row(
        "one call as a process, warm cache",
        "ms",
        mine,
        Some(others),
        Some("ratio <= 1.5"),
    );
    Ok(())
}

const CONFIG: &str =
    "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\nstate_path = \"state\"\n";

fn time(mut command: Command) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let elapsed = started.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    let right = output.status.success() && text.contains("19") && text.contains("15");
    anyhow::ensure!(right, "{command:?} gave {output:?}");
    Ok(elapsed)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// A thousand different modules: the same code with a different custom section each.
fn many_modules(guest: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let modules = folder.path().join("modules");
    std::fs::create_dir(&modules)?;
    let bytes = std::fs::read(guest)?;
    for number in 0..MODULES {
        let mut module = bytes.clone();
        let name = format!("n{number:03}");
        // Section 0, its size, the length of its name, its name, no contents.
        module.extend([0, u8::try_from(name.len() + 1)?, u8::try_from(name.len())?]);
        module.extend(name.bytes());
        std::fs::write(modules.join(format!("skill{number}.wasm")), module)?;
    }
    let started = Instant::now();
    measure(folder.path())?;
    row(
        "opening on 1,000 unknown modules",
        "s",
        started.elapsed().as_secs_f64(),
        None,
        None,
    );
    let (mut time, mut memory) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let (one_time, one_memory) = measure(folder.path())?;
        time = time.min(one_time);
        memory = memory.min(one_memory);
    }
    row(
        "opening on 1,000 known modules, each",
        "ms",
        time,
        None,
        Some("ours < 1"),
    );
    row(
        "memory of 1,000 known modules, each",
        "KB",
        memory,
        None,
        Some("ours < 300"),
    );
    Ok(())
}

/// Milliseconds and kilobytes for each module, of a fresh process.
fn measure(folder: &Path) -> anyhow::Result<(f64, f64)> {
    let output = Command::new(std::env::current_exe()?)
        .env(OPEN, folder)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (time, memory) = text
        .trim()
        .split_once(' ')
        .with_context(|| format!("no figures: {text}"))?;
    Ok((time.parse()?, memory.parse()?))
}

fn open_once(folder: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let environment = Environment::new(folder).with("HOME", folder);
    let config = Config::from_toml(CONFIG, &folder.join("config.toml"), &environment)?.config;
    let before = resident_kilobytes()?;
    let started = Instant::now();
    let host = runtime.block_on(Host::builder(config).environment(environment).open())?;
    let elapsed = started.elapsed();
    let after = resident_kilobytes()?;
    let tools = host.snapshot().tools().len();
    anyhow::ensure!(tools == usize::from(MODULES), "{tools} tools");
    let modules = f64::from(MODULES);
    println!(
        "{} {}",
        elapsed.as_secs_f64() * 1e3 / modules,
        (after - before) / modules
    );
    Ok(())
}

fn resident_kilobytes() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}

fn row(name: &str, unit: &str, ours: f64, baseline: Option<f64>, goal: Option<&str>) {
    println!(
        "{}",
        json!({"name": name, "unit": unit, "ours": ours, "baseline": baseline, "goal": goal})
    );
}

//! Hot reload: how soon a new version answers, and what those who call other tools notice
//! while a large module compiles.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::bench::{Allocation, Engine};
use prx_host::config::{Config, Environment};
use prx_host::model::{CallOptions, Outcome};
use prx_host::{Change, Host};
use prx_tests::Versions;
use serde_json::json;
use tokio::sync::watch;
use wasm_encoder::{
    CodeSection, ExportKind, ExportSection, Function, FunctionSection, Module, TypeSection, ValType,
};

/// The settling window. It is the operator's choice, so it is taken off what is measured.
const SETTLE: Duration = Duration::from_millis(50);
/// New versions of each sort, and before measuring.
const RUNS: u32 = 30;
const WARM_UP: u32 = 3;
/// Between two calls of one who measures how long they take.
const PAUSE: Duration = Duration::from_millis(1);
/// Calls while nothing is compiled.
const CALLS: usize = 3_000;
/// Functions of the large module, and steps of each: several megabytes of code.
const FUNCTIONS: u32 = 8_000;
const STEPS: i32 = 160;
/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(5);

const ARGUMENTS: &str = r#"{"text":"The quick brown fox","numbers":[1,2,3,4,5]}"#;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    first_answers().await?;
    while_compiling().await
}

/// A host that follows a folder of its own.
struct Place {
    folder: tempfile::TempDir,
    host: Host,
    changes: watch::Receiver<Arc<Change>>,
    _watching: prx_host::Watching,
}

impl Place {
    async fn new(module: &str, bytes: &[u8]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("prx-bench-").tempdir()?;
        let root = folder.path().canonicalize()?;
        fs::create_dir(root.join("modules"))?;
        fs::write(root.join("modules").join(module), bytes)?;
        let environment = Environment::new(&root).with("HOME", &root);
        let text = format!(
            "[runtime.reload]\nsettle_ms = {}\n[runtime.wasm]\nmodule_path = \"modules\"\n\
             cache_path = \"cache\"\nstate_path = \"state\"\n",
            SETTLE.as_millis()
        );
        let file = root.join("config.toml");
        fs::write(&file, &text)?;
        let config = Config::from_toml(&text, &file, &environment)?.config;
        let builder = Host::builder(config).environment(environment);
        let host = Box::pin(builder.open()).await?;
        Ok(Self {
            changes: host.changes(),
            _watching: host.watch(),
            host,
            folder,
        })
    }

    /// Renames a module into its place; gives the moment before.
    fn rename(&self, module: &str, bytes: &[u8]) -> Result<Instant> {
        let beside = self.folder.path().join("new");
        fs::write(&beside, bytes)?;
        let started = Instant::now();
        fs::rename(beside, self.path(module))?;
        Ok(started)
    }

    fn path(&self, module: &str) -> PathBuf {
        self.folder.path().join("modules").join(module)
    }

    async fn changed(&mut self) -> Result<()> {
        let changed = tokio::time::timeout(LONG, self.changes.changed()).await;
        Ok(changed.context("nothing changed")??)
    }

    /// How long it takes from a rename to the first answer of a version, in milliseconds
    /// and without the settling window.
    async fn first_answer(&mut self, versions: &Versions, version: u32) -> Result<f64> {
        let started = self.rename("skill.wasm", &versions.module(version))?;
        loop {
            self.changed().await?;
            if call(&self.host, "skill_tell", "{}").await? == Versions::text(version) {
                return Ok((started.elapsed().as_secs_f64() - SETTLE.as_secs_f64()) * 1e3);
            }
        }
    }
}

async fn call(host: &Host, tool: &str, arguments: &str) -> Result<String> {
    let report = host.call(tool, arguments, CallOptions::default()).await;
    match report.outcome {
        Outcome::Ok(output) => Ok(output.text()),
        other => bail!("`{tool}`: {other:?}"),
    }
}

/// From a rename to the first answer, for modules that are known and for new ones.
async fn first_answers() -> Result<()> {
    let versions = Versions::new()?;
    let mut place = Place::new("skill.wasm", &versions.module(1)).await?;
    let engine = Engine::new(Allocation::default()).map_err(anyhow::Error::msg)?;
    let (mut cold, mut bare, mut warm) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..WARM_UP + RUNS {
        // Nobody compiled these before.
        let time = place.first_answer(&versions, 2 + 2 * run).await?;
        let bytes = versions.module(3 + 2 * run);
        let started = Instant::now();
        engine.compile(&bytes).map_err(anyhow::Error::msg)?;
        if run >= WARM_UP {
            cold.push(time);
            bare.push(started.elapsed().as_secs_f64() * 1e3);
        }
    }
    for run in 0..WARM_UP + RUNS {
        // These two are known.
        let time = place
            .first_answer(&versions, [1, 2][run as usize % 2])
            .await?;
        if run >= WARM_UP {
            warm.push(time);
        }
    }
    let settle = SETTLE.as_millis();
    row(
        &format!("rename to first answer, known module, beyond the settling window of {settle} ms"),
        "ms",
        at(warm, 50),
        None,
        Some("ours <= 20"),
    );
    row(
        &format!("the same, new module, against compiling it ({settle} ms taken off too)"),
        "ms",
        at(cold, 50),
        Some(at(bare, 50)),
        Some("ratio <= 1.5"),
    );
    Ok(())
}

/// Calls of one tool while another's module compiles, against calls before that.
async fn while_compiling() -> Result<()> {
    let trivial = fs::read(prx_tests::guest("trivial")?)?;
    let mut place = Place::new("trivial.wasm", &trivial).await?;
    let mut before = Vec::new();
    for _ in 0..CALLS {
        before.push(one_call(&place.host).await?);
    }
    let bytes = large();
    let started = place.rename("large.wasm", &bytes)?;
    let mut during = Vec::new();
    let calls = async {
        tokio::time::sleep(SETTLE).await;
        loop {
            during.push(one_call(&place.host).await?);
        }
    };
    let host = place.host.clone();
    let serves = |_: &Arc<Change>| host.snapshot().tool("large").is_some();
    let changed = tokio::time::timeout(LONG, place.changes.wait_for(serves));
    tokio::select! {
        changed = changed => drop(changed.context("it never served")??),
        ended = calls => return ended,
    }
    let took = started.elapsed().saturating_sub(SETTLE);
    let snapshot = place.host.snapshot();
    ensure!(snapshot.tool("large").is_some(), "{:?}", snapshot.broken());
    // The slow end of a few calls would be chance.
    ensure!(during.len() >= 200, "only {} calls", during.len());
    let size = bytes.len() / (1 << 20);
    row(
        &format!("call while {size} MiB compile, p95, against before"),
        "us",
        at(during, 95),
        Some(at(before, 95)),
        Some("ratio <= 2"),
    );
    let engine = Engine::new(Allocation::default()).map_err(anyhow::Error::msg)?;
    let started = Instant::now();
    wasmtime::Module::new(engine.wasmtime(), &bytes).map_err(anyhow::Error::msg)?;
    row(
        &format!("{size} MiB from rename to serving, against compiling alone"),
        "s",
        took.as_secs_f64(),
        Some(started.elapsed().as_secs_f64()),
        None,
    );
    Ok(())
}

/// What one call takes, in microseconds.
async fn one_call(host: &Host) -> Result<f64> {
    tokio::time::sleep(PAUSE).await;
    let started = Instant::now();
    call(host, "trivial", ARGUMENTS).await?;
    Ok(started.elapsed().as_secs_f64() * 1e6)
}

/// A command of several megabytes, in which no two functions are the same.
fn large() -> Vec<u8> {
    let (mut types, mut functions) = (TypeSection::new(), FunctionSection::new());
    types.ty().function([], []);
    types.ty().function([ValType::I32], [ValType::I32]);
    let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
    functions.function(0);
    exports.export("_start", ExportKind::Func, 0);
    let mut start = Function::new([]);
    start.instructions().end();
    code.function(&start);
    for number in 0..FUNCTIONS {
        functions.function(1);
        let mut body = Function::new([(2, ValType::I32)]);
        let seed = i32::try_from(number).expect("there are few");
        let mut steps = body.instructions();
        for step in 0..STEPS {
            let local = u32::from(step % 3 == 0);
            steps
                .local_get(local)
                .i32_const(seed.wrapping_mul(31).wrapping_add(step))
                .i32_xor()
                .local_get(2)
                .i32_mul()
                .local_set(2 - local);
        }
        steps.local_get(2).end();
        code.function(&body);
    }
    let mut module = Module::new();
    module
        .section(&types)
        .section(&functions)
        .section(&exports)
        .section(&code);
    module.finish()
}

/// The time that so many percent do not exceed.
fn at(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() * percent / 100]
}

fn row(name: &str, unit: &str, ours: f64, baseline: Option<f64>, goal: Option<&str>) {
    println!(
        "{}",
        json!({"name": name, "unit": unit, "ours": ours, "baseline": baseline, "goal": goal})
    );
}

//! A WASI command through the adapter, against a minimal wasmtime program that runs the
//! same component with the same engine settings in the same process.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use prx_host::bench::{Allocation, Engine};
use prx_host::config::{Config, Environment};
use prx_host::{RuntimeAdapter as _, WasmAdapter};
use serde_json::json;
use wasmtime::Store;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// Runs before measuring, and measured runs of each.
const WARM_UP: usize = 300;
const RUNS: usize = 6_000;
/// As the adapter keeps of each stream.
const MAX_OUTPUT: usize = 1 << 20;
const ARGUMENTS: [&str; 2] = ["arguments", "measured"];
const LONG: Duration = Duration::from_mins(1);

fn main() -> Result<()> {
    let module = prx_tests::guest("command")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let _entered = runtime.enter();
    let folder = tempfile::tempdir()?;
    let adapter = adapter(folder.path(), &module)?;
    let bare = Bare::link(&module)?;
    // On a worker, where a host's commands run.
    let (ours, bare) = runtime.block_on(runtime.spawn(in_turns(adapter, bare)))??;
    let goal = "ratio <= 1.25";
    println!(
        "{}",
        json!({"name": "WASI command, p50", "unit": "us", "ours": ours, "baseline": bare, "goal": goal})
    );
    Ok(())
}

fn adapter(folder: &Path, module: &Path) -> Result<WasmAdapter> {
    let modules = folder.join("modules");
    std::fs::create_dir(&modules)?;
    std::fs::copy(module, modules.join("command.wasm"))?;
    let environment = Environment::new(folder).with("HOME", folder);
    let text = "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\n";
    let config = Config::from_toml(text, &folder.join("config.toml"), &environment)?.config;
    Ok(WasmAdapter::open(&config, &environment)?)
}

/// The middle of the times of both, in microseconds.
async fn in_turns(adapter: WasmAdapter, bare: Bare) -> Result<(f64, f64)> {
    let arguments = ARGUMENTS.map(str::to_owned);
    let env = HashMap::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..WARM_UP + RUNS {
        let started = Instant::now();
        let running = adapter.execute("command", &arguments, &env, None, LONG);
        let said = running.await?.stdout.bytes;
        let mine = started.elapsed();
        let started = Instant::now();
        let bare_said = bare.run(&ARGUMENTS).await?;
        let other = started.elapsed();
        ensure!(said == *bare_said, "{said:?} is not {bare_said:?}");
        if run >= WARM_UP {
            ours.push(mine);
            theirs.push(other);
        }
    }
    Ok((median(ours), median(theirs)))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// What wasmtime alone needs: nothing is checked, limited or watched.
struct Bare {
    engine: Engine,
    command: CommandPre<Data>,
}

struct Data {
    table: ResourceTable,
    wasi: WasiCtx,
}

impl WasiView for Data {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl Bare {
    fn link(module: &Path) -> Result<Self> {
        let engine = Engine::new(Allocation::default()).map_err(anyhow::Error::msg)?;
        let component = engine
            .compile(&std::fs::read(module)?)
            .map_err(anyhow::Error::msg)?;
        let mut linker = Linker::new(engine.wasmtime());
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(anyhow::Error::msg)?;
        let command = linker.instantiate_pre(&component).and_then(CommandPre::new);
        Ok(Self {
            command: command.map_err(anyhow::Error::msg)?,
            engine,
        })
    }

    /// Runs it in a fresh instance; gives its standard output.
    async fn run(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let pipe = || MemoryOutputPipe::new(MAX_OUTPUT);
        let (stdout, stderr) = (pipe(), pipe());
        let wasi = WasiCtx::builder()
            .arg("command")
            .args(arguments)
            .stdout(stdout.clone())
            .stderr(stderr)
            .build();
        let data = Data {
            table: ResourceTable::new(),
            wasi,
        };
        let mut store = Store::new(self.engine.wasmtime(), data);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let run = async {
            let command = self.command.instantiate_async(&mut store).await?;
            command.wasi_cli_run().call_run(&mut store).await
        };
        let ended = run.await.map_err(anyhow::Error::msg)?;
        ensure!(ended == Ok(()), "it failed");
        drop(store);
        Ok(stdout.contents().into())
    }
}

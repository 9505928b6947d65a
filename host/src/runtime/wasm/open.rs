//! From the configuration to an engine that runs and a loader that compiles.

use crate::config::{Config, Environment, WasmEngine};
use crate::runtime::{Result, RuntimeError};

use super::adapter::WasmAdapter;
use super::compile_cache::CompileCache;
use super::engine::{Allocation, Engine};
use super::loader::Loader;

/// The engine that the configuration asks for, started.
pub(super) fn engine(config: &Config) -> Result<Engine> {
    let unavailable = |reason: String, help: String| RuntimeError::Unavailable {
        backend: "wasm".into(),
        reason,
        help,
    };
    let asked = &config.runtime.wasm.engine;
    if asked.value == WasmEngine::Wasmer {
        return Err(unavailable(
            "this host has no engine `wasmer`".into(),
            format!("write \"wasmtime\" at {}", asked.origin()),
        ));
    }
    Engine::new(Allocation::OnDemand).map_err(|error| {
        unavailable(
            format!("the engine can not start: {error:#}"),
            "run where threads and executable memory are allowed, or use another backend".into(),
        )
    })
}

impl Loader {
    /// A loader with the engine and the compile cache of this configuration. To be called
    /// on an asynchronous runtime, which runs its asynchronous parts.
    pub fn open(config: &Config, allocation: Allocation) -> Result<Self> {
        let wasm = &config.runtime.wasm;
        let cache = CompileCache::open(&wasm.cache_path.value, wasm.cache_max_bytes.value);
        Ok(Self::new(
            engine(config)?,
            allocation,
            cache,
            wasm.max_memory_bytes.value,
        ))
    }
}

impl WasmAdapter {
    /// An adapter with a loader of its own. To be called on an asynchronous runtime. A
    /// host that also serves skills shares its loader: see [`WasmAdapter::new`].
    pub fn open(config: &Config, environment: &Environment) -> Result<Self> {
        let loader = std::sync::Arc::new(Loader::open(config, Allocation::default())?);
        Ok(Self::new(loader, config, environment))
    }
}

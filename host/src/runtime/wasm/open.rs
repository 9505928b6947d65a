//! Opening what loads modules, as a configuration says.

use super::compile_cache::CompileCache;
use super::engine::{Allocation, Engine};
use super::loader::Loader;
use crate::config::{Config, WasmEngine};
use crate::runtime::{Result, RuntimeError};

/// Starts the engine and opens the compile cache.
///
/// # Errors
///
/// When the configuration asks for another engine, or this one can not start here.
pub fn open(config: &Config, allocation: Allocation) -> Result<Loader> {
    let unavailable = |reason: String, help: String| RuntimeError::Unavailable {
        backend: "wasm".into(),
        reason,
        help,
    };
    let wasm = &config.runtime.wasm;
    if wasm.engine.value == WasmEngine::Wasmer {
        return Err(unavailable(
            format!("{}: this host has no engine `wasmer`", wasm.engine.origin()),
            "write `runtime.wasm.engine = \"wasmtime\"`".into(),
        ));
    }
    let engine = Engine::new(allocation).map_err(|error| {
        unavailable(
            format!("the WebAssembly engine can not start: {error:#}"),
            "its code needs a processor and a system that Wasmtime supports".into(),
        )
    })?;
    let cache = CompileCache::open(&wasm.cache_path.value, wasm.cache_max_bytes.value);
    Ok(Loader::new(engine, cache, wasm.max_memory_bytes.value))
}

//! What `doctor` says of the backend `wasm`: the engine is started, not only looked for.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::compile_cache::CompileCache;
use crate::config::Config;
use crate::model::{Shown as _, format_bytes};
use crate::runtime::{Health, modules_in};

/// The name of the backend.
const NAME: &str = "wasm";

/// How the backend is under this configuration: engine, module folder, compile cache.
/// Blocks for milliseconds.
pub fn health(config: &Config) -> Health {
    let wasm = &config.runtime.wasm;
    if let Err(error) = super::open::engine(config) {
        return Health::bad(NAME, &error);
    }
    Health::good(NAME, format!("wasmtime {}", wasmtime_environ::VERSION))
        .note("runs skills, and commands of WASI 0.1 and 0.2")
        .note(module_folder(
            &wasm.module_path.value,
            &wasm.module_path.key,
        ))
        .note(cache(&wasm.cache_path.value, wasm.cache_max_bytes.value))
}

fn module_folder(path: &Path, key: &str) -> String {
    let modules =
        Dir::open_ambient_dir(path, ambient_authority()).and_then(|folder| modules_in(&folder));
    match modules {
        Ok(modules) => format!(
            "module folder `{}`: {} modules",
            path.shown(),
            modules.len()
        ),
        Err(error) => format!(
            "module folder `{}`: {error}; create it, or correct `{key}`",
            path.shown()
        ),
    }
}

fn cache(path: &Path, max_bytes: u64) -> String {
    let opened = CompileCache::open(path, max_bytes);
    if let Some(problem) = opened.problem() {
        return format!("compiled modules are not kept: {problem}");
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let bytes: u64 = entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|data| data.len())
        .sum();
    format!(
        "compile cache `{}`: {} of {} used",
        path.shown(),
        format_bytes(bytes),
        format_bytes(max_bytes)
    )
}

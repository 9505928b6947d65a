//! A host that makes WebAssembly skills safe, ordinary tools for AI agents.

#![cfg_attr(
    not(feature = "wasm-runtime"),
    allow(
        dead_code,
        unused_imports,
        clippy::unused_async,
        reason = "this build leaves out what uses them"
    )
)]

pub mod config;
mod dispatch;
mod host;
pub mod model;
mod registry;
mod runtime;
mod schema;

#[cfg(feature = "wasm-runtime")]
pub use host::inspect_file;
pub use host::{Host, HostBuilder, OpenError, engine_version};
pub use registry::{Broken, Entry, EntryLimits, LoadEvent, LoadListener, Snapshot, Tool};
#[cfg(feature = "docker")]
pub use runtime::docker::{DockerAdapter, PullListener, PullProgress, health as docker_health};
#[cfg(feature = "wasm-runtime")]
pub use runtime::wasm::{
    compile_cache::Statistics as CacheStatistics,
    fault::ModuleFault,
    inspect::{ImportOffer, Inspection},
    module::{Descriptor, Module},
    shape::{ExternName, Shape, WasmEncoding},
};
pub use runtime::{
    Ending, Execution, ExecutionOutput, Health, NativeAdapter, Program, RuntimeAdapter,
    RuntimeError, native_health,
};

/// The engine by itself, for benches that compare the host with it. Not part of the API.
#[cfg(feature = "wasm-runtime")]
#[doc(hidden)]
pub mod bench {
    pub use crate::runtime::wasm::engine::{Allocation, Engine};
}

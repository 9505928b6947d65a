//! A host that makes WebAssembly skills safe, ordinary tools for AI agents.

#![cfg_attr(
    not(feature = "wasm-runtime"),
    allow(
        dead_code,
        unused_imports,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        clippy::unused_self,
        reason = "this build leaves out what uses them"
    )
)]

pub mod command;
pub mod config;
mod dispatch;
mod doctor;
pub mod events;
mod file_state;
mod grants;
mod host;
#[cfg(feature = "wasm-runtime")]
pub mod install;
mod json;
pub mod lint;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
mod presence;
mod readiness;
mod registry;
mod reload;
mod runtime;
mod schema;

pub use doctor::{Examination, examine};
#[cfg(feature = "wasm-runtime")]
pub use host::inspect_file;
pub use host::{Host, HostBuilder, OpenError, engine_version};
pub use presence::{Notice, NoticeFault, NoticeServing, NoticeTool, running_hosts};
pub use readiness::NotReady;
pub use registry::{
    Broken, Entry, EntryLimits, LoadEvent, LoadListener, Serving, Snapshot, Started, Tool,
};
pub use reload::{Change, Watching};
#[cfg(feature = "docker")]
pub use runtime::docker::{DockerAdapter, PullListener, PullProgress, health as docker_health};
pub use runtime::native::{NativeAdapter, health as native_health};
#[cfg(feature = "wasm-runtime")]
pub use runtime::wasm::{
    adapter::WasmAdapter,
    compile_cache::{Contents as CacheContents, Statistics as CacheStatistics},
    fault::ModuleFault,
    health as wasm_health,
    inspect::{ImportOffer, Inspection},
    module::{Descriptor, Module},
    shape::{Entry as ModuleEntry, ExternName, Shape, WasmEncoding},
};
pub use runtime::{
    Ending, Execution, ExecutionOutput, Health, Program, RuntimeAdapter, RuntimeError, Selection,
    create_runtime, create_runtime_in,
};

/// The engine by itself, for benches that compare the host with it. Not part of the API.
#[cfg(feature = "wasm-runtime")]
#[doc(hidden)]
pub mod bench {
    pub use crate::runtime::wasm::engine::{Allocation, Engine};
}

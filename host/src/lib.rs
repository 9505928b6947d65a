//! A host that makes WebAssembly skills safe, ordinary tools for AI agents.

pub mod config;
mod dispatch;
mod host;
pub mod model;
mod registry;
mod runtime;
mod schema;

/// What is known of modules: what they are, and why they do not serve.
#[cfg(feature = "wasm-runtime")]
pub mod module {
    pub use crate::host::inspect_file;
    pub use crate::runtime::wasm::compile_cache::Statistics as CacheStatistics;
    pub use crate::runtime::wasm::fault::ModuleFault;
    pub use crate::runtime::wasm::inspect::{ImportOffer, Inspection};
    pub use crate::runtime::wasm::module::{Descriptor, Module};
    pub use crate::runtime::wasm::shape::{ExternName, Shape, WasmEncoding};
}

pub use host::{Host, HostBuilder, OpenError, engine_version};
pub use registry::{Broken, Entry, EntryLimits, LoadEvent, LoadListener, Snapshot, Tool};

/// The engine by itself, for benches that compare the host with it. Not part of the API.
#[cfg(feature = "wasm-runtime")]
#[doc(hidden)]
pub mod bench {
    pub use crate::runtime::wasm::engine::{Allocation, Engine};
}

//! A host that makes WebAssembly skills safe, ordinary tools for AI agents.

pub mod config;
mod dispatch;
mod host;
pub mod model;
mod registry;
mod runtime;
mod schema;

pub use host::{Host, HostBuilder, OpenError};
pub use registry::{Broken, Entry, EntryLimits, LoadEvent, LoadListener, Snapshot, Tool};

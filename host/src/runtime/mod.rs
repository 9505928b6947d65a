//! The backends: what runs a tool. Adapters know neither each other nor the front doors.
//!
//! Every adapter runs a command through [`RuntimeAdapter`]; skills are called through
//! [`wasm::call`]. Output is kept up to a limit by the one [`capture`] of them all.

mod adapter;
pub(crate) mod capture;
#[cfg(feature = "docker")]
pub mod docker;
mod error;
mod health;
pub mod native;
#[cfg(feature = "wasm-runtime")]
pub mod wasm;

pub use adapter::{Ending, Execution, ExecutionOutput, Program, RuntimeAdapter};
#[cfg(feature = "docker")]
pub use docker::DockerAdapter;
pub use error::{Result, RuntimeError};
pub use health::Health;
pub use native::{NativeAdapter, health as native_health};

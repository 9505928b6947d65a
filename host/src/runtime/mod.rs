//! The backends: what runs a tool. Adapters know neither each other nor the front doors.
//!
//! Every adapter runs a command through [`RuntimeAdapter`]; skills are called through
//! [`wasm::call`]. Output is kept up to a limit by the one [`capture`] of them all.

mod adapter;
pub(crate) mod capture;
mod deferred;
#[cfg(feature = "docker")]
pub mod docker;
mod error;
mod factory;
mod health;
mod module_file;
#[cfg(feature = "wasm-runtime")]
mod modules_first;
pub mod native;
#[cfg(feature = "wasm-runtime")]
pub mod wasm;

pub(crate) use adapter::cancelled;
pub use adapter::{Ending, Execution, ExecutionOutput, Program, RuntimeAdapter};
pub use error::{Result, RuntimeError};
pub(crate) use factory::Backends;
pub use factory::{Selection, create_runtime, create_runtime_in};
pub use health::Health;
pub(crate) use module_file::{
    IN_FOLDER, is_module, module_file, module_name, modules_in, passed_over,
};

//! A host that makes WebAssembly skills safe, ordinary tools for AI agents.

pub mod config;
pub mod model;
mod runtime;
mod schema;

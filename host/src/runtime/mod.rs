//! The backends: what runs a tool. Adapters know neither each other nor the front doors.

#[cfg(feature = "wasm-runtime")]
pub mod wasm;

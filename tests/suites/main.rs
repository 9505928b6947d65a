//! The end-to-end suites, one program: linking the engine once is enough.

mod fixtures;
mod guests;
mod wasm_contract;
mod wasm_memory;
mod wasm_output;
mod wasm_time;

//! The end-to-end suites, one program: linking the engine once is enough.

mod command_tools;
mod events;
mod fixtures;
mod guests;
mod readme;
mod reload;
mod wasm_arguments;
mod wasm_breakdowns;
mod wasm_cache;
mod wasm_commands;
mod wasm_contract;
mod wasm_describe;
mod wasm_environment;
mod wasm_files;
mod wasm_folders;
mod wasm_imports;
mod wasm_kinds;
mod wasm_memory;
mod wasm_names;
mod wasm_network;
mod wasm_output;
mod wasm_places;
mod wasm_programs;
mod wasm_state;
mod wasm_time;

//! The contract of `RuntimeAdapter`: every case is written once, in `cases/`, and runs
//! against every backend, each through a fixture of its own.

#[macro_use]
mod contract;
mod cases;
mod choice;
mod docker;
mod fixture;
mod lifetime;
mod limits;
mod machine;
mod native;
mod sandbox;
mod tool_file;
mod wasm;

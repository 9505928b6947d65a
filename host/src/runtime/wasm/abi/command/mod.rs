//! WASI commands: programs with a beginning, arguments and an exit code, in both
//! encodings.
//!
//! Invariant: an exit code arrives as every system hands it on, its lowest eight bits.

mod component;
mod preview1;

use wasmtime_wasi::I32Exit;

pub use component::ComponentCommandAbi;
pub use preview1::CoreCommandAbi;

/// Turns the end of a command into its exit code; what is no exit stays an error.
fn exit_code(ended: wasmtime::Result<i32>) -> wasmtime::Result<i32> {
    let code = ended.or_else(|error| match error.downcast_ref::<I32Exit>() {
        Some(exit) => Ok(exit.0),
        None => Err(error),
    })?;
    Ok(code & 0xff)
}

//! What the host offers, behind one set of functions: the imports of the component on
//! `wasm32`, memory of the test thread elsewhere. Nothing else knows the difference.

#[cfg(target_arch = "wasm32")]
mod imports;
#[cfg(target_arch = "wasm32")]
pub(crate) use imports::*;

#[cfg(not(target_arch = "wasm32"))]
mod memory;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use memory::*;

//! What the macros' expansions call. Not for authors: may change in any version.

pub mod answer;
pub mod arguments;
mod numbers;
pub mod schema;

pub use crate::error::ToolError;
pub use crate::output::Output;
pub use crate::skill::{Entry, Skill, Tool};
pub use crate::tool::{Capability, Hints, Request, ToolSpec};
pub use answer::{
    ExplicitAnswer, FromError, FromLocalBox, FromSharedBox, Infallible, OptionalAnswer, Returned,
    StructuredAnswer,
};
pub use arguments::decode;
pub use {schemars, serde};

#[cfg(target_arch = "wasm32")]
pub use crate::bindings;
#[cfg(target_arch = "wasm32")]
pub use crate::bindings::exports::prx::skill::tools::{self as wit, Guest};
#[cfg(target_arch = "wasm32")]
pub use crate::export::{call, describe};
#[cfg(target_arch = "wasm32")]
pub use std::{string::String, vec::Vec};
#[cfg(target_arch = "wasm32")]
pub use wit_bindgen;

/// Whether two tools of a skill bear the same name; for the check in `skill!`.
pub const fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#![doc = include_str!("../README.md")]

extern crate self as prx_skill;

pub mod config;
mod error;
mod host;
pub mod log;
mod output;
pub mod prelude;
pub mod progress;
mod skill;
pub mod state;
mod tool;

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod bindings;
#[cfg(target_arch = "wasm32")]
mod export;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

#[doc(hidden)]
pub mod plumbing;

pub use error::{Context, ErrorKind, ToolError};
pub use output::{Content, IntoOutput, Media, Output, Resource, ResourceBody, Structured};
pub use prx_skill_macros::{data, skill, tool};
pub use skill::{Skill, Tool};
pub use tool::{Capability, Hints, Request, ToolSpec};

pub use {schemars, serde, serde_json};

/// Exports a skill from a component; nothing to export elsewhere.
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($skill:expr) => {
        const _: () = {
            struct Component;
            impl $crate::plumbing::Guest for Component {
                fn describe() -> $crate::plumbing::Vec<$crate::plumbing::wit::ToolSpec> {
                    $crate::plumbing::describe(&$skill)
                }
                fn call(
                    name: $crate::plumbing::String,
                    arguments: $crate::plumbing::String,
                ) -> ::core::result::Result<
                    $crate::plumbing::wit::Output,
                    $crate::plumbing::wit::Error,
                > {
                    $crate::plumbing::call(&$skill, &name, &arguments)
                }
            }
            $crate::plumbing::bindings::export_component!(
                Component with_types_in $crate::plumbing::bindings
            );
        };
    };
}

/// Exports a skill from a component; nothing to export elsewhere.
#[cfg(not(target_arch = "wasm32"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($skill:expr) => {};
}

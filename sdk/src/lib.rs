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

/// Makes a tool of a function. The function stays as it was, and callable.
///
/// The doc comment becomes the description (required: a model reads it to decide), those
/// of the parameters become theirs, the types become JSON Schema.
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `read_only`, `destructive`, `idempotent`, `open_world` | a hint, as the Model Context Protocol names them; also `destructive = false`; left out: unknown |
/// | `name = "…"` | the tool's name, if not the function's |
/// | `title = "…"` | a short name for people |
/// | `reads("/docs", "why")` | asks to read the folder at this guest path |
/// | `writes("/notes", "why")` | asks to read and change it |
/// | `variable("LANG", "why")` | asks for an environment variable |
/// | `network("api.example.com:443", "why")` | asks to reach a host, or `*` for any |
/// | `state("why")` | asks to keep values between calls |
/// | `optional(…)` | around one of these: the tool also works without |
///
/// Asking grants nothing: an operator sees it beside what is granted.
///
/// # Parameters
///
/// Any type with `Deserialize` and `JsonSchema`, by value, or by reference to it, to
/// `str`, a slice or a `Path`. `Option<T>` may be absent; so may one with
/// `#[default(value)]` or `#[default]`. Attributes `#[serde(…)]` and `#[schemars(…)]`
/// work on parameters as they do on fields, for instance
/// `#[schemars(range(min = 1, max = 100))]`. Arguments that the function does not name are
/// refused.
///
/// One parameter marked `#[arguments]` takes all arguments as a struct of the author's.
///
/// # Return types
///
/// | type | answer |
/// |---|---|
/// | `String`, `&str`, `Cow<str>`, `Box<str>` | one text |
/// | [`Output`], [`Content`], `Vec<Content>`, [`Resource`] | these contents |
/// | `()` | success without words |
/// | `T: Serialize + JsonSchema` | structured, with an output schema; the host shows the JSON text. What is no JSON object, and every `Option`, comes as `{"result": …}` |
/// | [`Structured<T>`] | structured, with contents of one's own |
/// | an implementation of [`IntoOutput`] | what it makes |
/// | `Result<any of these, E>` | `E` is [`ToolError`], implements [`std::error::Error`], or is a `String`, a `Box<dyn Error>` or an `anyhow::Error` |
pub use prx_skill_macros::tool;

/// Exports functions with [`#[tool]`](macro@tool) as the skill of this crate:
/// `prx_skill::skill!(first, second, module::third);`.
///
/// Also defines `pub const SKILL:` [`Skill`], for [tests](testing). Nothing is exported
/// when the target is not `wasm32`.
pub use prx_skill_macros::skill;

/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a struct or an enum, through
/// `prx_skill`: the crate needs neither `serde` nor `schemars` itself. Their attributes
/// work on fields and variants.
///
/// `#[data(input)]` leaves out `Serialize`, `#[data(output)]` leaves out `Deserialize`.
pub use prx_skill_macros::data;

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

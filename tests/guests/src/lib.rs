//! What every test guest stands on: raw bindings of `prx:skill@0.1.0`, a tool as a
//! value, and the macros that turn a list of tools into a component's exports.
//!
//! The SDK is left out on purpose: a guest may lie, and the SDK would not let it.
//! Each behaviour is one file under `examples/`, built with
//! `cargo build -p prx-guests --examples --profile skill --target wasm32-wasip2`.

mod answer;
mod tool;

#[allow(
    missing_docs,
    reason = "generated; the WIT files are the documentation"
)]
#[allow(clippy::pedantic, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        inline: "
            package prx:guests;
            world guest {
                include prx:skill/host@0.1.0;
                export prx:skill/tools@0.1.0;
            }
        ",
        world: "prx:guests/guest",
        pub_export_macro: true,
        export_macro_name: "export_tools",
        default_bindings_module: "prx_guests::bindings",
        generate_all,
    });
}

/// WASI without the standard library's manners: what a guest can ask for when it
/// calls the interfaces itself. Unused imports do not end up in a component.
#[allow(
    missing_docs,
    reason = "generated; the WIT files are the documentation"
)]
#[allow(clippy::pedantic, reason = "generated")]
pub mod wasi {
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        inline: "
            package prx:guests-wasi;
            world wasi {
                include wasi:cli/imports@0.2.12;
            }
        ",
        world: "prx:guests-wasi/wasi",
        type_section_suffix: "wasi",
        generate_all,
    });
    pub use self::wasi::*;
}

pub use answer::{Answer, fail, from_io, structured, text};
pub use bindings::exports::prx::skill::tools;
pub use bindings::prx::skill::{config, log, progress, state};
pub use tool::{Arguments, Tool, find_and_run, no_hints, spec};

/// Exports a list of [`Tool`]s as a skill.
///
/// The list is built anew for `describe` and for each `call`, so that nothing of it
/// needs to be static.
#[macro_export]
macro_rules! guest {
    ($($tool:expr),+ $(,)?) => {
        struct Guest;

        impl $crate::tools::Guest for Guest {
            fn describe() -> Vec<$crate::tools::ToolSpec> {
                [$($tool),+].map($crate::Tool::into_spec).into()
            }

            fn call(name: String, arguments: String) -> $crate::Answer {
                $crate::find_and_run(vec![$($tool),+], &name, arguments)
            }
        }

        $crate::bindings::export_tools!(Guest with_types_in $crate::bindings);
    };
}

/// Exports a skill whose `describe` is the given expression, whatever it does, and
/// whose every call answers the text `called <name>`.
#[macro_export]
macro_rules! describes {
    ($specs:expr) => {
        struct Guest;

        impl $crate::tools::Guest for Guest {
            fn describe() -> Vec<$crate::tools::ToolSpec> {
                $specs
            }

            fn call(name: String, _arguments: String) -> $crate::Answer {
                $crate::text(format!("called {name}"))
            }
        }

        $crate::bindings::export_tools!(Guest with_types_in $crate::bindings);
    };
}

/// Runs a function before any export can be called: in the component's own start
/// function, while it is being instantiated.
#[macro_export]
macro_rules! at_start {
    ($function:path) => {
        // The linker collects these into what `_initialize` calls.
        #[cfg(target_family = "wasm")]
        #[used]
        #[unsafe(link_section = ".init_array")]
        static AT_START: extern "C" fn() = {
            extern "C" fn at_start() {
                $function()
            }
            at_start
        };

        // Compiled for this machine, by a linter, the guest starts nothing.
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = $function;
    };
}

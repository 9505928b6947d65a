//! `prx-host inspect`: everything about one tool, or about one file.

#[cfg(feature = "wasm-runtime")]
mod granted;
#[cfg(feature = "wasm-runtime")]
mod module;
#[cfg(feature = "wasm-runtime")]
mod text;

use std::path::Path;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

/// Show all about a tool or a `.wasm` file: imports, tools, schemas, grants, limits
#[derive(clap::Args)]
#[command(after_help = "Examples:
  prx-host inspect wordcount
  prx-host inspect ./target/wasm32-wasip2/release/wordcount.wasm
  prx-host inspect wordcount --json | jq '.tools[0].input_schema'")]
pub struct Arguments {
    /// A tool, an entry, or the path of a file (with a `/` in it, or ending in `.wasm`).
    #[arg(value_name = "TOOL | FILE")]
    target: String,
}

impl Arguments {
    fn is_file(&self) -> bool {
        let path = Path::new(&self.target);
        self.target.contains('/')
            || (path
                .extension()
                .is_some_and(|extension| extension == "wasm")
                && path.exists())
    }
}

/// Runs the command.
#[cfg(feature = "wasm-runtime")]
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    start::block_on(async {
        if arguments.is_file() {
            module::inspect_file(config, Path::new(&arguments.target), screen).await
        } else {
            Box::pin(module::inspect_tool(config, &arguments.target, screen)).await
        }
    })
}

/// Runs the command.
#[cfg(not(feature = "wasm-runtime"))]
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    start::configuration(global, screen)?;
    let what = format!("`{}` can not be looked at", arguments.target);
    let failure = Failure::new(Exit::Unavailable, what);
    debug_assert!(arguments.is_file() || !arguments.target.contains('/'));
    Err(match super::version::missing() {
        Some(missing) => failure.cause(missing),
        None => failure,
    })
}

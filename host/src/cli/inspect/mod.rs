//! `prx-host inspect`: everything about one tool, or about one file.

#[cfg(feature = "wasm-runtime")]
mod module;
mod sheet;
#[cfg(feature = "wasm-runtime")]
mod text;
mod tool;

use std::path::Path;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

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
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    start::block_on(async {
        if arguments.is_file() {
            inspect_file(config, Path::new(&arguments.target), screen).await
        } else {
            Box::pin(tool::inspect(config, &arguments.target, screen)).await
        }
    })
}

#[cfg(feature = "wasm-runtime")]
use module::inspect_file;

/// Without the engine nothing can be said of a module.
#[cfg(not(feature = "wasm-runtime"))]
#[allow(clippy::unused_async, reason = "as in a build with modules")]
async fn inspect_file(
    _config: prx_host::config::Config,
    file: &Path,
    _screen: Screen,
) -> Result<Exit, Failure> {
    let what = format!(
        "`{}` can not be looked at",
        prx_host::model::Shown::shown(file)
    );
    Err(super::version::without_modules(what))
}

//! `prx-host install`: puts a module into the module folder, after a person has seen what
//! it is and what it would be granted.

#[cfg(feature = "wasm-runtime")]
mod lines;
#[cfg(feature = "wasm-runtime")]
mod plan;
#[cfg(feature = "wasm-runtime")]
mod text;
#[cfg(feature = "wasm-runtime")]
mod work;

use std::path::PathBuf;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "The file is looked at as the host would: what can not run is refused. A person is asked where
the configuration in force grants it something, or another module would be replaced; without a
terminal, `--yes` (and `--replace`) say so. The configuration is never written.

Examples:
  prx-host install ./target/wasm32-wasip2/release/wordcount.wasm
  prx-host install ./wordcount.wasm --name words --dry-run
  prx-host install ./wordcount.wasm --replace --yes --json"
)]
pub struct Arguments {
    /// The module: a `.wasm` file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What it will be called; else as the file is, without its ending.
    #[arg(long, short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// Put it in the place of another module of that name.
    #[arg(long)]
    replace: bool,
    /// Agree to what it would be granted.
    #[arg(long, short = 'y')]
    yes: bool,
    /// Show everything and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    start::block_on(install(arguments, config, screen))
}

#[cfg(feature = "wasm-runtime")]
use work::install;

/// Without the engine nothing can be said of a module.
#[cfg(not(feature = "wasm-runtime"))]
#[allow(clippy::unused_async, reason = "as in a build with modules")]
async fn install(
    arguments: &Arguments,
    _config: prx_host::config::Config,
    _screen: Screen,
) -> Result<Exit, Failure> {
    let Arguments {
        file,
        name: _,
        replace: _,
        yes: _,
        dry_run: _,
    } = arguments;
    let what = format!(
        "`{}` can not be installed",
        prx_host::model::Shown::shown(file.as_path())
    );
    Err(super::version::without_modules(what))
}

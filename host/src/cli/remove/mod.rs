//! `prx-host remove`: takes a module out of the module folder, after a person has seen
//! what goes with it and what stays.

#[cfg(feature = "wasm-runtime")]
mod work;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "Only files in the module folder are removed. The configuration and what the skill has kept
between calls stay. A person is asked; without a terminal, `--yes` says so.

Examples:
  prx-host remove wordcount
  prx-host remove notes_add --yes     # its module serves the other tools of `notes`, too
  prx-host remove broken.wasm --yes --json"
)]
pub struct Arguments {
    /// A tool, an entry, or a file of the module folder, with or without `.wasm`.
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Agree to it, and ask nobody.
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    start::block_on(remove(arguments, config, screen))
}

#[cfg(feature = "wasm-runtime")]
use work::remove;

/// Without the engine nobody knows which module serves a tool.
#[cfg(not(feature = "wasm-runtime"))]
#[allow(clippy::unused_async, reason = "as in a build with modules")]
async fn remove(
    arguments: &Arguments,
    _config: prx_host::config::Config,
    _screen: Screen,
) -> Result<Exit, Failure> {
    let Arguments { tool, yes: _ } = arguments;
    Err(super::version::without_modules(format!(
        "`{tool}` can not be removed"
    )))
}

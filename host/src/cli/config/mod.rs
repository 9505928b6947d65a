//! `prx-host config`: what is in force, a first file, and which file it is.

mod init;
mod path;
mod show;

use std::path::PathBuf;

use clap::Subcommand;

use super::render::{Failure, Screen};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  prx-host config show
  prx-host config init
  prx-host config path")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show every value that is in force and where it came from; secrets stay hidden
    #[command(after_help = "Examples:
  prx-host config show
  prx-host config show --json | jq '.[] | select(.origin != \"default\")'")]
    Show,
    /// Write a first configuration in which every key is explained
    #[command(after_help = "Examples:
  prx-host config init
  prx-host config init --path ./config.toml --force")]
    Init {
        /// The file to write; else the one of --config, else the standard place.
        #[arg(long, value_name = "FILE")]
        path: Option<PathBuf>,
        /// Replace a file that exists.
        #[arg(long)]
        force: bool,
    },
    /// Say which file is read, and why that one
    #[command(after_help = "Examples:
  prx-host config path
  $EDITOR \"$(prx-host config path)\"")]
    Path,
}

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Show => show::run(&start::configuration(global, screen)?, screen),
        Command::Init { path, force } => init::run(path.as_deref(), *force, global, screen),
        Command::Path => path::run(global, screen),
    }
}

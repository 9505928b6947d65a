//! `prx-host completions`: what a shell needs to complete the command line.

use clap_complete::Shell;

use super::Exit;
use super::render::{Failure, Screen};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  prx-host completions bash > ~/.local/share/bash-completion/completions/prx-host
  prx-host completions zsh > ~/.zfunc/_prx-host
  prx-host completions fish > ~/.config/fish/completions/prx-host.fish")]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &Arguments, screen: Screen) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut super::command(),
        "prx-host",
        &mut script,
    );
    screen.write(&script)?;
    Ok(Exit::Ok)
}

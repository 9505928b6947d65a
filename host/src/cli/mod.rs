//! The command line: one file per command, all of them in front of [`prx_host::Host`].
//!
//! Invariant: commands give a result or a [`Failure`]; only this file turns either into
//! an exit code, and only [`render`] writes to the standard streams.

mod call;
mod check;
mod commands;
mod completions;
mod config;
#[cfg(feature = "wasm-runtime")]
mod consent;
mod doctor;
mod facts;
#[cfg(feature = "wasm-runtime")]
mod granted;
mod hosts;
mod inspect;
mod install;
mod list;
mod listener;
#[cfg(feature = "mcp")]
mod mcp_config;
mod noticed;
mod remove;
mod render;
mod run;
#[cfg(feature = "mcp")]
mod serve;
mod start;
mod version;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser};

use commands::Command;
use render::{Colours, Failure, Screen};

/// What the process tells its parent. The numbers are promised in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went well.
    Ok = 0,
    /// The tool failed.
    ToolFailed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Something was not granted.
    Denied = 3,
    /// A limit was reached.
    Limit = 4,
    /// Something that is needed is not there.
    Unavailable = 5,
    /// The program itself failed.
    Internal = 70,
    /// Ctrl-C, as shells have it.
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Runs WebAssembly skills as safe, ordinary tools.
#[derive(Parser)]
#[command(
    name = "prx-host",
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 ok, 1 the tool failed, 2 usage or configuration, 3 denied, 4 limit, \
                  5 unavailable, 70 internal, 130 cancelled.",
    after_long_help = "Examples:
  prx-host config init                      write a first configuration
  prx-host install ./wordcount.wasm         put a module into the folder of modules
  prx-host list                             what can be called
  prx-host call wordcount --arg text=hello  call a tool
  prx-host run -- 'ls | wc -l'              run a command in its sandbox
  prx-host serve                            serve the tools to an agent over MCP
  prx-host watch                            follow changes and calls
  prx-host doctor                           what works on this machine

Exit codes: 0 ok, 1 the tool failed, 2 usage or configuration, 3 denied, 4 limit,
5 unavailable, 70 internal, 130 cancelled."
)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(clap::Args)]
struct Global {
    /// The configuration file; else `$PRX_HOST_CONFIG`, else the standard place.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Global options"
    )]
    config: Option<PathBuf>,
    /// Write one JSON value to standard output, errors included.
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// When to use colours; `NO_COLOR` is honoured.
    #[arg(long, value_enum, default_value_t = Colours::Auto, value_name = "WHEN", global = true, help_heading = "Global options")]
    color: Colours,
    /// Log more to standard error (-vv: still more); `RUST_LOG` says it in detail.
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = "Global options", conflicts_with = "quiet")]
    verbose: u8,
    /// Only errors, and only grave messages of skills (-qq: none) on standard error.
    #[arg(short, long, action = ArgAction::Count, global = true, help_heading = "Global options")]
    quiet: u8,
}

/// Runs the program.
pub fn main() -> ExitCode {
    // The panic's own message is on standard error already.
    std::panic::catch_unwind(run_process).unwrap_or_else(|_| Exit::Internal.into())
}

fn run_process() -> ExitCode {
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too; a reader that has gone is no fault.
            let wants_json = std::env::args_os().skip(1).any(|word| word == "--json");
            if !error.use_stderr() || !wants_json {
                let _ = error.print();
                return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            }
            let failure = Failure::new(Exit::Usage, "the command line can not be understood")
                .cause(error.to_string().trim_end().to_owned());
            return Screen::new(Colours::Never, true, 0).fail(&failure).into();
        }
    };
    let global = &arguments.global;
    let screen = Screen::new(global.color, global.json, global.quiet);
    start::log(global.verbose, global.quiet, screen.colours_on_stderr());
    start::raise_file_limit();
    let result = run(&arguments, screen);
    result.unwrap_or_else(|failure| screen.fail(&failure).into())
}

/// The arguments of the process; what every build and release says about itself is put
/// in first.
fn parse() -> Result<Arguments, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn command() -> clap::Command {
    let command = Arguments::command()
        .version(version::SHORT)
        .long_version(version::long());
    match version::missing() {
        Some(missing) => command.long_about(format!(
            "Runs WebAssembly skills as safe, ordinary tools.\n\nNote: {missing}"
        )),
        None => command,
    }
}

fn run(arguments: &Arguments, screen: Screen) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    let exit = match &arguments.command {
        Command::List(list) => list::run(list, global, screen),
        Command::Call(call) => call::run(call, global, screen),
        Command::Inspect(inspect) => inspect::run(inspect, global, screen),
        Command::Check(check) => check::run(check, global, screen),
        Command::Install(install) => install::run(install, global, screen),
        Command::Remove(remove) => remove::run(remove, global, screen),
        // Its exit code is that of the command it ran.
        Command::Run(run) => return run::run(run, global, screen),
        #[cfg(feature = "mcp")]
        Command::Serve(serve) => serve::run(serve, global, screen),
        #[cfg(feature = "mcp")]
        Command::McpConfig(config) => mcp_config::run(config, global, screen),
        Command::Watch(watch) => watch::run(watch, global, screen),
        Command::Doctor(_) => doctor::run(global, screen),
        Command::Config(config) => config::run(config, global, screen),
        Command::Completions(completions) => completions::run(completions, screen),
    };
    exit.map(ExitCode::from)
}

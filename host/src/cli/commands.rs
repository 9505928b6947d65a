//! The commands of the program.
//!
//! Invariant: of a command that was not asked for, nothing is made but its name and what it
//! says of itself. A call of a known tool takes a few milliseconds; to describe the options
//! of all commands is a notable part of that.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};

use super::{call, check, completions, config, doctor, inspect, install, list, remove, run, watch};
#[cfg(feature = "mcp")]
use super::{mcp_config, serve};

macro_rules! commands {
    (@describe $command:expr, $module:ident) => {
        $command.defer(describe::<$module::Arguments>)
    };
    // Headings stand in the order in which they came, and the global one comes before what is
    // described later.
    (@describe $command:expr, $module:ident with_headings) => {
        describe::<$module::Arguments>($command)
    };
    ($($(#[cfg($feature:meta)])? #[doc = $about:literal] $name:literal => $variant:ident($module:ident $($headings:ident)?),)+) => {
        /// The command that was asked for, with its arguments.
        pub enum Command {
            $($(#[cfg($feature)])? #[doc = $about] $variant($module::Arguments),)+
        }

        impl Subcommand for Command {
            fn augment_subcommands(program: clap::Command) -> clap::Command {
                $($(#[cfg($feature)])? let program = program.subcommand(commands!(
                    @describe clap::Command::new($name).about($about.trim()), $module $($headings)?
                ));)+
                program
            }

            fn augment_subcommands_for_update(program: clap::Command) -> clap::Command {
                Self::augment_subcommands(program)
            }

            fn has_subcommand(name: &str) -> bool {
                $($(#[cfg($feature)])? if name == $name {
                    return true;
                })+
                false
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                $($(#[cfg($feature)])? if name == $name {
                    return $module::Arguments::from_arg_matches(matches).map(Self::$variant);
                })+
                Err(missing())
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

commands! {
    /// List all tools: module, version, grants, and whether each can be called
    "list" => List(list),
    /// Call a tool and print its answer
    "call" => Call(call),
    /// Show all about a tool or a `.wasm` file: imports, tools, schemas, grants, limits
    "inspect" => Inspect(inspect),
    /// Check the configuration and all modules; exit code 2 when something is wrong
    "check" => Check(check),
    /// Put a module into the module folder, after showing what it would be granted
    "install" => Install(install),
    /// Remove the module that serves a tool, after showing what goes with it
    "remove" => Remove(remove),
    /// Run a command on a backend, in its sandbox and under its limits
    "run" => Run(run),
    #[cfg(feature = "mcp")]
    /// Serve tools, resources and prompts to an agent over the Model Context Protocol
    "serve" => Serve(serve with_headings),
    #[cfg(feature = "mcp")]
    /// Print the block that registers this host with an MCP client
    "mcp-config" => McpConfig(mcp_config),
    /// Watch modules and configuration: tools, versions, faults, reloads, calls per second
    "watch" => Watch(watch),
    /// Say which backends and sandboxes work here, and how to get those that do not
    "doctor" => Doctor(doctor),
    /// Show, write or find the configuration
    "config" => Config(config),
    /// Write completions for a shell to standard output
    "completions" => Completions(completions),
}

/// Adds the options of a command, which keeps what it says of itself: options that are shared
/// bring words of their own.
fn describe<A: Args>(command: clap::Command) -> clap::Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about)
}

fn missing() -> clap::Error {
    clap::Error::raw(ErrorKind::MissingSubcommand, "no command was given\n")
}

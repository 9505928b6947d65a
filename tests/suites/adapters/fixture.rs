//! What a backend brings along to be held to the contract: how its adapter is made, and
//! how it plays a role.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use prx_host::config::{Config, Environment};
use prx_host::{Execution, Program, RuntimeAdapter};
use tempfile::TempDir;

/// Names the folder of stages for a process that will not remove its own.
pub const STAGES: &str = "PRX_TEST_STAGES";

/// Longer than any case takes that is not about time.
pub const LONG: Duration = Duration::from_mins(1);

/// Shorter than any role lasts that does not end by itself.
pub const SHORT: Duration = Duration::from_millis(700);

/// A role that a program plays, see `tests/src/bin/player.rs`.
#[derive(Clone, Debug)]
pub enum Behaviour<'a> {
    /// Prints its arguments, each ended by a NUL.
    PrintArguments(&'a [&'a str]),
    /// Prints its variables as `NAME=VALUE`, each ended by a NUL.
    PrintVariables,
    /// Prints its working folder.
    PrintFolder,
    /// Prints bytes on standard output and on standard error.
    Print(&'a [u8], &'a [u8]),
    /// Ends with a code.
    Exit(i32),
    /// Breaks down: a signal, or a trap.
    Abort,
    /// Copies its standard input to its standard output.
    Echo,
    /// Writes that many bytes to each stream, in turns.
    Flood(u64),
    /// Says `begun` and lasts.
    Sleep {
        /// Found in the list of processes while it lasts.
        marker: &'a str,
    },
    /// As `Sleep`, and ignores SIGTERM.
    Stubborn {
        /// As for `Sleep`.
        marker: &'a str,
    },
    /// Uses the processor for ever.
    Spin,
    /// Starts a child that lasts and holds its streams, says `left` and ends.
    Leave {
        /// Of the child.
        marker: &'a str,
    },
    /// Starts such a child, says `begun` and lasts.
    LeaveAndStay {
        /// Of the child.
        marker: &'a str,
    },
    /// Starts a child in a session of its own without any stream, says `left` and ends.
    Daemonise {
        /// Of the child.
        marker: &'a str,
    },
}

/// A program and its arguments, as an adapter takes them.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program, or module.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Command {
    /// How the player of `tests/src/bin` plays a role.
    pub fn of_player(player: &str, behaviour: &Behaviour<'_>) -> Self {
        let hex = |bytes: &[u8]| -> String {
            let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
            let pair = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
            bytes.iter().flat_map(pair).collect()
        };
        let marked = |role: &str, marker: &str| vec![role.to_owned(), marker.to_owned()];
        let args: Vec<String> = match behaviour {
            Behaviour::PrintArguments(arguments) => {
                let arguments = arguments.iter().copied();
                std::iter::once("arguments")
                    .chain(arguments)
                    .map(str::to_owned)
                    .collect()
            }
            Behaviour::PrintVariables => vec!["variables".to_owned()],
            Behaviour::PrintFolder => vec!["folder".to_owned()],
            Behaviour::Print(stdout, stderr) => {
                vec!["print".to_owned(), hex(stdout), hex(stderr)]
            }
            Behaviour::Exit(code) => vec!["exit".to_owned(), code.to_string()],
            Behaviour::Abort => vec!["abort".to_owned()],
            Behaviour::Echo => vec!["echo".to_owned()],
            Behaviour::Flood(bytes) => vec!["flood".to_owned(), bytes.to_string()],
            Behaviour::Sleep { marker } => marked("sleep", marker),
            Behaviour::Stubborn { marker } => marked("stubborn", marker),
            Behaviour::Spin => vec!["spin".to_owned()],
            Behaviour::Leave { marker } => marked("leave", marker),
            Behaviour::LeaveAndStay { marker } => marked("leave and stay", marker),
            Behaviour::Daemonise { marker } => marked("daemonise", marker),
        };
        Self {
            program: player.to_owned(),
            args,
        }
    }

    /// An execution of it with the time that no case reaches.
    pub fn execution<'a>(&'a self, env: &'a HashMap<String, String>) -> Execution<'a> {
        let program = Program::Direct {
            program: &self.program,
            args: &self.args,
        };
        Execution::new(program, env, LONG)
    }
}

/// How a command breaks down on a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each backend knows one of them")]
pub enum Breakdown {
    /// It is ended by SIGABRT.
    Signal,
    /// The guest traps.
    Trap,
    /// It ends with this code: the backend can not tell one from the other.
    Code(i32),
}

/// How a backend differs from the others, said here so that no case skips in silence.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a difference by itself"
)]
pub struct Differences {
    /// How `Behaviour::Abort` ends.
    pub breakdown: Breakdown,
    /// There is a shell for a command without arguments.
    pub has_shell: bool,
    /// A command can start others.
    pub has_processes: bool,
    /// A child in a session of its own ends with the command too.
    pub holds_sessions: bool,
    /// The working folder, and its path, are those of this machine.
    pub shows_own_paths: bool,
    /// How many calls in a row are counted for leaks.
    pub many: usize,
}

/// A backend that is held to the contract.
pub trait Fixture: Sync {
    /// How it differs.
    fn differences(&self) -> Differences;

    /// What its tables in `config.toml` need to say.
    fn configuration(&self) -> String;

    /// Its adapter for a configuration.
    fn adapter(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> impl Future<Output = Result<Arc<dyn RuntimeAdapter>>> + Send;

    /// A deadline that passes during a role that does not end by itself, and not before
    /// the backend has begun it.
    fn deadline(&self) -> Duration {
        SHORT
    }

    /// How it plays a role.
    fn command(&self, behaviour: &Behaviour<'_>) -> Result<Command>;

    /// What of a marked command is still running.
    fn running(&self, marker: &str) -> Result<Vec<String>>;

    /// Ends what a backend leaves running, where that is a difference it has.
    fn end(&self, marker: &str) -> Result<()>;
}

/// A workspace, a configuration and an adapter for them.
pub struct Stage {
    /// The adapter under test.
    pub adapter: Arc<dyn RuntimeAdapter>,
    /// Its configuration.
    pub workspace: PathBuf,
    #[allow(dead_code, reason = "held for its end")]
    folder: TempDir,
}

/// What a case may set before its adapter is made.
#[derive(Default)]
pub struct Setup<'a> {
    /// Lines for `[runtime]`.
    pub runtime: &'a str,
    /// More tables.
    pub tables: &'a str,
    /// Variables of the host.
    pub variables: &'a [(&'a str, &'a str)],
    /// Folders in the workspace.
    pub folders: &'a [&'a str],
}

impl Stage {
    /// A stage with nothing special.
    pub async fn plain<F: Fixture>(fixture: &F) -> Result<Self> {
        Self::new(fixture, &Setup::default()).await
    }

    /// A stage that is set up.
    pub async fn new<F: Fixture>(fixture: &F, setup: &Setup<'_>) -> Result<Self> {
        // Not under `/tmp`, of which a sandbox makes its own.
        let parent = std::env::var_os(STAGES);
        let parent = parent.unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
        let folder = tempfile::Builder::new()
            .prefix("prx-adapter-")
            .tempdir_in(parent)?;
        let root = folder.path().canonicalize()?;
        let workspace = root.join("workspace");
        std::fs::create_dir(&workspace)?;
        for inner in setup.folders {
            std::fs::create_dir_all(workspace.join(inner))?;
        }
        let text = format!(
            "[runtime]\nworkspace = \"workspace\"\n{}\n{}\n{}",
            setup.runtime,
            fixture.configuration(),
            setup.tables
        );
        let mut environment = Environment::new(&root)
            .with("HOME", &root)
            .with("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in setup.variables {
            environment = environment.with(*name, *value);
        }
        let file = root.join("config.toml");
        std::fs::write(&file, &text)?;
        let loaded = Config::from_toml(&text, &file, &environment)
            .map_err(|faults| anyhow::anyhow!("{faults:?}\n{text}"))?;
        Ok(Self {
            adapter: fixture.adapter(&loaded.config, &environment).await?,
            workspace,
            folder,
        })
    }

    /// A path beside the workspace, which is not granted.
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }
}

/// A text that no other test uses.
pub fn marker() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("marker-{}-{count}-", std::process::id())
}

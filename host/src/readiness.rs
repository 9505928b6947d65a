//! What keeps tools from being called although they are loaded: a program, a shell, an
//! engine or a folder that is not there; and files that look like modules and are none.
//!
//! Invariant: nothing is run to find out. A daemon is asked whether it is there and which
//! images it has, at most, and is not waited for.

use std::path::PathBuf;

use serde::Serialize;

use crate::command::ProgramTemplate;
use crate::config::{Backend, SandboxBackend};
#[cfg(not(feature = "docker"))]
use crate::config::{Config, Environment};
use crate::host::Host;
use crate::registry::{CommandTool, Snapshot, Tool};
#[cfg(feature = "docker")]
use crate::runtime::docker::Reached as Engine;
use crate::runtime::{Program, RuntimeError, native, passed_over};

/// A tool whose calls would not begin as things are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotReady {
    /// Its name.
    pub tool: String,
    /// What is not there.
    pub reason: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl NotReady {
    fn new(tool: &Tool, error: &RuntimeError) -> Self {
        Self {
            tool: tool.name().to_owned(),
            reason: error.to_string(),
            help: error.help(),
        }
    }
}

impl Host {
    /// The commands of a snapshot that could not be started now, each with the first reason.
    /// Granted folders that are missing are said by
    /// [`Entry::missing_folders`](crate::Entry::missing_folders).
    pub async fn not_ready(&self, snapshot: &Snapshot) -> Vec<NotReady> {
        let config = self.config();
        let mut engine: Option<Result<Engine, RuntimeError>> = None;
        let mut found = Vec::new();
        for tool in snapshot.tools() {
            let Some(command) = tool.entry().command() else {
                continue;
            };
            let fault = match self.runs_in(tool, command) {
                Where::Module => None,
                Where::Process => self.missing_for_process(command).err(),
                Where::Container => {
                    let asked = match engine {
                        Some(ref mut asked) => asked,
                        None => engine.insert(Engine::reach(&config, self.environment()).await),
                    };
                    let fault = match asked {
                        Ok(engine) => engine.has(tool.entry().image(&config)).await.err(),
                        Err(error) => Some(error.clone()),
                    };
                    fault.or_else(|| self.missing_folder(command).err())
                }
            };
            found.extend(fault.map(|error| NotReady::new(tool, &error)));
        }
        found
    }

    /// Files in the module folder that are passed over because their ending is `.WASM`, or
    /// another one that is not quite `.wasm`.
    pub fn passed_over(&self) -> Vec<PathBuf> {
        let config = self.config();
        passed_over(&config.runtime.wasm.module_path.value).unwrap_or_default()
    }

    fn runs_in(&self, tool: &Tool, command: &CommandTool) -> Where {
        let contained = self.config().sandbox.backend.value == Some(SandboxBackend::Docker);
        match tool.entry().backend() {
            _ if command.is_module() => Where::Module,
            Backend::Docker => Where::Container,
            Backend::Native if contained => Where::Container,
            Backend::Native => Where::Process,
            Backend::Wasm => Where::Module,
        }
    }

    fn missing_for_process(&self, command: &CommandTool) -> Result<(), RuntimeError> {
        let program = match &command.template.program {
            ProgramTemplate::Direct { program, .. } => Program::Direct { program, args: &[] },
            ProgramTemplate::Line(line) => Program::Shell(line),
            ProgramTemplate::CallersLine(_) => Program::Shell(":"),
        };
        native::look_for(
            &self.config(),
            self.environment(),
            (&program, &command.env),
            command.working_dir.as_deref(),
        )
    }

    fn missing_folder(&self, command: &CommandTool) -> Result<(), RuntimeError> {
        let config = self.config();
        let workspace = &config.runtime.workspace.value;
        native::working_folder(workspace, command.working_dir.as_deref()).map(drop)
    }
}

/// Where a command runs.
enum Where {
    /// In the engine of this program.
    Module,
    Process,
    Container,
}

/// What is asked whether it is there. In a build without containers their entries are broken
/// already, and nobody is asked.
#[cfg(not(feature = "docker"))]
struct Engine;

#[cfg(not(feature = "docker"))]
#[allow(clippy::unused_async, reason = "as in a build with containers")]
impl Engine {
    async fn reach(_config: &Config, _environment: &Environment) -> Result<Self, RuntimeError> {
        Ok(Self)
    }

    async fn has(&mut self, _image: &str) -> Result<(), RuntimeError> {
        Ok(())
    }
}

//! The native backend: commands as processes of this machine, in a sandbox.
//!
//! Each command leads a process group of its own, without a terminal, with the [limits]
//! of `[security.resources]`, in the [sandbox] of `[security.sandbox]`. When
//! a run ends, for whatever reason, all that the command started is ended with it: SIGTERM,
//! half a second, SIGKILL; when the host dies, the kernel kills it. A program that starts a
//! session of its own is held only by a PID namespace, so by bubblewrap and firejail, and
//! not by landlock or without a sandbox.

mod environment;
mod failure;
mod group;
mod launch;
#[cfg(test)]
mod launch_tests;
mod leader;
mod limits;
mod process;
mod program;
mod sandbox;
mod spawner;
mod stack;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use environment::Variables;
use group::End;
use limits::Limits;
use process::{Bounds, Over, Ran};
use sandbox::choice::{self, ORDER};
use sandbox::{Sandbox, Target};

use super::{
    Ending, Execution, ExecutionOutput, Health, Program, Result, RuntimeAdapter, RuntimeError,
};
use crate::config::{Config, Environment, SandboxBackend};

const NAME: &str = "native";

/// How often a sandbox is started that fails by chance.
const TRIES: u32 = 5;

/// Runs commands as processes of this machine.
#[derive(Debug)]
pub struct NativeAdapter {
    shell: PathBuf,
    variables: Variables,
    workspace: PathBuf,
    max_output: u64,
    limits: Limits,
    sandbox: Sandbox,
}

impl NativeAdapter {
    /// Reads the configuration and takes the sandbox that it names; with `auto`, the
    /// strongest that works when it is tried out here. The choice is logged once.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Sandbox`] when the named sandbox does not work, and
    /// [`RuntimeError::Folder`] when it is told to show what it can not.
    pub async fn new(config: &Config, environment: &Environment) -> Result<Self> {
        let runtime = &config.runtime;
        Ok(Self {
            shell: runtime.native.shell.value.clone(),
            variables: Variables::of(runtime, environment)?,
            workspace: runtime.workspace.value.clone(),
            max_output: runtime.max_output_bytes.value,
            limits: Limits::of(&config.resources),
            sandbox: choice::choose(config, environment).await?,
        })
    }

    /// The sandbox in force, as in `security.sandbox.backend`.
    pub fn sandbox(&self) -> &'static str {
        self.sandbox.name()
    }

    fn target(&self, execution: &Execution<'_>) -> Result<Target> {
        let folder = self.folder(execution.working_dir)?;
        let variables = self.variables.with(execution.env)?;
        let found = program::find(&execution.program, &self.shell, &variables, &folder)?;
        let mut limits = self.limits.clone();
        if let Some(memory) = execution.max_memory {
            limits.memory = memory;
        }
        Ok(Target {
            file: found.file,
            argv: found.argv,
            variables,
            folder,
            limits,
        })
    }

    /// The working folder, absolute and without links. A relative one starts in the
    /// workspace.
    fn folder(&self, wanted: Option<&Path>) -> Result<PathBuf> {
        let folder = working_folder(&self.workspace, wanted)?;
        self.sandbox.admit(&folder)?;
        Ok(folder)
    }

    fn output(
        &self,
        execution: &Execution<'_>,
        target: &Seen,
        ran: Ran,
    ) -> Result<ExecutionOutput> {
        let (exit_code, ending) = match ran.over {
            Over::TimedOut => (None, Ending::TimedOut),
            Over::Cancelled => (None, Ending::Cancelled),
            Over::Ended(End::Exited(code)) => (Some(code), Ending::Exited),
            Over::Ended(End::Signalled(signal, used)) if self.limits.ended(signal, used) => {
                let limit = self.limits.cpu_time;
                (None, Ending::OutOfCpuTime { limit })
            }
            Over::Ended(End::Signalled(signal, _)) => (None, Ending::Signalled { signal }),
            Over::Ended(End::NotRun(error)) => {
                let command = execution.program.command();
                return Err(failure::not_run(
                    error,
                    command,
                    &target.file,
                    &self.sandbox,
                ));
            }
            Over::Ended(End::SandboxFailed) => {
                return Err(self.sandbox.failure(&ran.stderr.text()));
            }
        };
        Ok(ExecutionOutput {
            stdout: ran.stdout,
            stderr: ran.stderr,
            exit_code,
            duration: ran.duration,
            waited: Duration::ZERO,
            ending,
        })
    }
}

/// What is still needed of a target after it was started.
struct Seen {
    file: PathBuf,
}

#[async_trait]
impl RuntimeAdapter for NativeAdapter {
    async fn execute(
        &self,
        command: &str,
        args: &[String],
        env: &HashMap<String, String>,
        working_dir: Option<&Path>,
        timeout: Duration,
    ) -> Result<ExecutionOutput> {
        self.run(Execution::plain(command, args, env, working_dir, timeout))
            .await
    }

    async fn is_available(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        NAME
    }

    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        let started = Instant::now();
        let mut tries = 1;
        loop {
            let target = self.target(&execution)?;
            let seen = Seen {
                file: target.file.clone(),
            };
            let prepared = self.sandbox.prepare(target)?;
            let bounds = Bounds {
                stdin: execution.stdin,
                timeout: execution.timeout.saturating_sub(started.elapsed()),
                cancel: execution.cancel,
                events: execution.events.clone(),
                max_output: execution.max_output.unwrap_or(self.max_output),
            };
            match process::run(prepared, bounds).await {
                Ok(ran) if tries < TRIES && self.sandbox.may_be_tried_again(&ran) => tries += 1,
                Ok(mut ran) => {
                    ran.duration = started.elapsed();
                    return self.output(&execution, &seen, ran);
                }
                Err(error) => {
                    let command = execution.program.command();
                    return Err(failure::not_started(
                        &error,
                        command,
                        &seen.file,
                        &self.sandbox,
                    ));
                }
            }
        }
    }
}

/// The folder that a command works in, absolute and without links, in whatever sandbox.
pub(crate) fn working_folder(workspace: &Path, wanted: Option<&Path>) -> Result<PathBuf> {
    let path = wanted.map_or_else(|| workspace.to_owned(), |path| workspace.join(path));
    let refuse = |reason: String| RuntimeError::WorkingDirectory {
        path: path.clone(),
        reason,
    };
    let folder = path
        .canonicalize()
        .map_err(|error| refuse(error.to_string()))?;
    if !folder.is_dir() {
        return Err(refuse("it is not a folder".to_owned()));
    }
    Ok(folder)
}

/// Looks whether a program, or the shell, and the working folder of a command are there, by
/// the rules by which they are found when it runs. Runs nothing and tries no sandbox.
pub(crate) fn look_for(
    config: &Config,
    environment: &Environment,
    (program, env): (&Program<'_>, &HashMap<String, String>),
    working_dir: Option<&Path>,
) -> Result<()> {
    let runtime = &config.runtime;
    let folder = working_folder(&runtime.workspace.value, working_dir)?;
    let variables = Variables::of(runtime, environment)?.with(env)?;
    program::find(program, &runtime.native.shell.value, &variables, &folder).map(drop)
}

/// How the native backend and each of its sandboxes are, found out by trying them.
pub async fn health(config: &Config, environment: &Environment) -> Vec<Health> {
    // At the same time: each may have to be waited for in vain.
    let tried = ORDER.map(|backend| async move {
        let name = match backend {
            SandboxBackend::Landlock => "landlock",
            SandboxBackend::Firejail => "firejail",
            _ => "bubblewrap",
        };
        match choice::try_out(backend, config, environment).await {
            Ok(sandbox) => {
                let version = sandbox.version().unwrap_or_default();
                let good = Health::good(name, version);
                sandbox.notes().into_iter().fold(good, Health::note)
            }
            Err(error) => Health::bad(name, &error),
        }
    });
    let mut found = futures::future::join_all(tried).await;
    let has_containers =
        cfg!(feature = "docker") && config.sandbox.backend.value == Some(SandboxBackend::Docker);
    let native = match NativeAdapter::new(config, environment).await {
        _ if has_containers => {
            Health::good(NAME, "its commands run in containers, see docker").note("sandbox: docker")
        }
        Ok(adapter) => Health::good(NAME, "processes of this machine")
            .note(format!("sandbox: {}", adapter.sandbox()))
            .note(limits::note()),
        Err(error) => Health::bad(NAME, &error),
    };
    found.insert(0, native);
    found
}

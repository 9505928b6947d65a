//! The backend `wasm`: runs WASI commands by their names, as programs are run elsewhere.
//!
//! Invariant: a command touches what the configuration grants and nothing else. Each run
//! has an instance of its own, which is gone when the future is.

mod ending;
mod kept;
mod lookup;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use indexmap::IndexMap;

use self::kept::KeptModules;
use self::lookup::ModuleFolder;
use super::access::Access;
use super::fault::ModuleFault;
use super::loader::Loader;
use super::module::Module;
use super::process::{Process, WorkingFolder};
use super::session::{self, SessionLimits, Watched};
use super::{CommandCall, run};
use crate::config::{Config, Environment};
use crate::grants::grants;
use crate::model::{FolderGrant, Grants};
use crate::runtime::adapter::{Ending, Execution, ExecutionOutput, Program, RuntimeAdapter};
use crate::runtime::{Result, RuntimeError};

/// Runs WASI commands. A command is the name of a module in the module folder, with or
/// without `.wasm`, or a path: an absolute one, or one inside of that folder.
///
/// A command starts in the working folder where a granted folder has it inside; a
/// component is told its path, a core module reaches it by relative paths. A working
/// folder that a caller names must be granted; the configured workspace need not be.
pub struct WasmAdapter {
    loader: Arc<Loader>,
    modules: Modules,
    access: Access,
    limits: SessionLimits,
    workspace: PathBuf,
}

/// Which modules an adapter runs.
enum Modules {
    /// Those of the module folder, and those that are named by a path.
    Named(ModuleFolder, KeptModules),
    /// This one, whatever it is called.
    Pinned(Arc<Module>),
}

impl WasmAdapter {
    /// The adapter of a whole configuration, with its global grants and limits.
    pub fn new(loader: Arc<Loader>, config: &Config, environment: &Environment) -> Self {
        let wasm = &config.runtime.wasm;
        Self {
            loader,
            modules: Modules::Named(
                ModuleFolder::new(wasm.module_path.clone()),
                KeptModules::default(),
            ),
            access: Access::new(
                &grants(config, None, &IndexMap::new(), environment),
                None,
                IndexMap::new(),
            ),
            limits: SessionLimits {
                max_memory: wasm.max_memory_bytes.value,
                max_output: config.runtime.max_output_bytes.value,
            },
            workspace: config.runtime.workspace.value.clone(),
        }
    }

    /// The adapter of one tool entry, whose module is held by its snapshot: every command
    /// is this module, and its name is only what the program hears of itself.
    pub fn of_module(
        loader: Arc<Loader>,
        module: Arc<Module>,
        grants: &Grants,
        limits: SessionLimits,
        workspace: PathBuf,
    ) -> Self {
        Self {
            loader,
            modules: Modules::Pinned(module),
            access: Access::new(grants, None, IndexMap::new()),
            limits,
            workspace,
        }
    }

    /// Whether a command is the name of a module in the module folder, or the absolute
    /// path of a `.wasm` file. What can not be found out is no.
    pub fn has_module(&self, command: &str) -> bool {
        match &self.modules {
            Modules::Named(folder, _) => folder.has(command),
            Modules::Pinned(_) => true,
        }
    }

    fn working_folder(&self, named: Option<&Path>) -> Result<Option<WorkingFolder>> {
        let granted = self.access.folders();
        let is_granted = |grant: &FolderGrant| self.workspace.starts_with(&grant.host);
        let path = match named {
            Some(path) => path,
            None if granted.iter().any(is_granted) => &self.workspace,
            None => return Ok(None),
        };
        match WorkingFolder::find(path, granted) {
            Ok(folder) => Ok(Some(folder)),
            Err(reason) => Err(RuntimeError::WorkingDirectory {
                path: path.to_owned(),
                reason,
            }),
        }
    }

    /// The module of a command, or how the command ended before there was one.
    async fn module(
        &self,
        execution: &Execution<'_>,
        started: Instant,
    ) -> Result<Result<Arc<Module>, ExecutionOutput>> {
        let command = execution.program.command();
        let (folder, kept) = match &self.modules {
            Modules::Pinned(module) => return Ok(Ok(Arc::clone(module))),
            Modules::Named(folder, kept) => (folder, kept),
        };
        if let Some(module) = kept.unchanged(&folder.place_of(command)) {
            return Ok(Ok(module));
        }
        let source = folder.find(command)?;
        let loading = async { Ok(kept.load(&self.loader, &source).await) };
        let loaded = match session::watch(loading, execution.timeout, execution.cancel).await {
            Watched::Done(Ok(loaded)) => loaded,
            Watched::Done(Err(error)) => Err(ModuleFault::NotCompiled(error.to_string())),
            Watched::Panicked(text) => Err(ModuleFault::NotCompiled(text)),
            Watched::Cancelled => {
                return Ok(Err(ExecutionOutput::unheard(Ending::Cancelled, started)));
            }
            Watched::TimedOut => {
                let ended = ending::not_loaded(command, execution.timeout, started);
                return Ok(Err(ended));
            }
        };
        loaded
            .map(Ok)
            .map_err(|fault| ending::not_executable(command, &fault))
    }
}

#[async_trait]
impl RuntimeAdapter for WasmAdapter {
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
        // The engine stands, or there would be no loader.
        true
    }

    fn name(&self) -> &'static str {
        "wasm"
    }

    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        let started = Instant::now();
        check_input(&execution)?;
        let folder = self.working_folder(execution.working_dir)?;
        let module = match self.module(&execution, started).await? {
            Ok(module) => module,
            Err(ended) => return Ok(ended),
        };
        let limits = SessionLimits {
            max_memory: execution.max_memory.unwrap_or(self.limits.max_memory),
            max_output: execution.max_output.unwrap_or(self.limits.max_output),
        };
        let command = execution.program.command();
        let call = CommandCall {
            module: &module,
            process: Process {
                name: command,
                arguments: arguments(&execution.program),
                variables: execution.env,
                stdin: execution.stdin,
                folder: folder.as_ref(),
            },
            access: &self.access,
            limits: &limits,
            timeout: execution.timeout.saturating_sub(started.elapsed()),
            cancel: execution.cancel,
            events: execution.events.clone(),
        };
        match run(&self.loader, call).await {
            Ok((end, remains)) => ending::output(end, remains, &limits, started),
            Err(not_started) => ending::not_started(command, not_started, &execution, started),
        }
    }
}

fn arguments<'a>(program: &Program<'a>) -> &'a [String] {
    match program {
        Program::Shell(_) => &[],
        Program::Direct { args, .. } => args,
    }
}

/// Why a text is refused.
const NUL: &str = "it contains a NUL character";

/// Programs read arguments and variables up to their first NUL: what is behind one would
/// be lost without a word.
fn check_input(execution: &Execution<'_>) -> Result<()> {
    let invalid = |what: String, reason: &str| {
        Err(RuntimeError::InvalidInput {
            what,
            reason: reason.to_owned(),
        })
    };
    let arguments = arguments(&execution.program);
    if let Some(index) = arguments.iter().position(|text| text.contains('\0')) {
        return invalid(format!("argument {}", index + 1), NUL);
    }
    for (name, value) in execution.env {
        let what = || format!("the variable `{}`", name.escape_debug());
        if name.is_empty() || name.contains('=') {
            return invalid(what(), "it has no name that a program could ask for");
        }
        if name.contains('\0') || value.contains('\0') {
            return invalid(what(), NUL);
        }
    }
    Ok(())
}

//! Entries of modules: each file is loaded once, however many entries name it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::assemble::{LoadEvent, Made, NotMade};
use super::commands;
use super::entry::{CommandTool, Entry, Runner, Skill};
use super::limits;
use super::plan::ModuleFile;
use super::provided;
use crate::command;
use crate::config::{Backend, Config, Environment, ToolEntry};
use crate::grants::grants;
use crate::runtime::wasm::access::Access;
use crate::runtime::wasm::adapter::WasmAdapter;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::session::SessionLimits;
use crate::runtime::wasm::source::ModuleSource;
use crate::runtime::wasm::state::StateStore;

pub(super) type Loaded = Result<Arc<Module>, ModuleFault>;

/// Loads modules and makes entries of them.
pub(crate) struct Modules {
    pub loader: Arc<Loader>,
    pub state: StateStore,
}

impl Modules {
    /// Loads each file once, as many at a time as there are processors.
    pub(super) async fn load(
        &self,
        files: impl Iterator<Item = &ModuleFile>,
        tell: &(dyn Fn(LoadEvent) + Sync),
    ) -> BTreeMap<PathBuf, Loaded> {
        let width = std::thread::available_parallelism().map_or(1, usize::from);
        let places = Arc::new(Semaphore::new(width));
        let files: BTreeMap<PathBuf, ModuleFile> =
            files.map(|file| (file.path(), file.clone())).collect();
        let mut loads = JoinSet::new();
        for (path, file) in files {
            let (places, loader) = (Arc::clone(&places), Arc::clone(&self.loader));
            loads.spawn(async move {
                let _place = places.acquire_owned().await;
                let source = source(file);
                let loading = tokio::task::spawn_blocking(move || loader.load(&source));
                // A panic while loading is a fault of the module that caused it.
                let module = loading
                    .await
                    .unwrap_or_else(|panic| Err(ModuleFault::NotCompiled(panic.to_string())));
                (path, module)
            });
        }
        let mut loaded = BTreeMap::new();
        while let Some(done) = loads.join_next().await {
            let (path, module) = done.expect("the tasks neither panic nor are aborted");
            tell(LoadEvent::Loaded {
                module: path.clone(),
                ok: module.is_ok(),
                from_cache: module.as_ref().is_ok_and(|module| module.from_cache()),
            });
            loaded.insert(path, module);
        }
        loaded
    }

    /// Makes the entry of a loaded module: a skill, or a command.
    pub(super) fn entry(
        &self,
        config: &Config,
        name: &str,
        tool: Option<&ToolEntry>,
        module: &Loaded,
        environment: &Environment,
    ) -> Result<Made, NotMade> {
        let module = module.as_ref().map_err(|fault| NotMade {
            reason: fault.to_string(),
            help: fault.help().map(str::to_owned),
        })?;
        let provision = provided::provision(tool, environment)?;
        let grants = grants(config, tool, &provision.env, environment);
        let namespace = match grants.state_bytes {
            0 => None,
            _ => Some(
                self.state
                    .namespace(name)
                    .map_err(|error| error.to_string())?,
            ),
        };
        let values: IndexMap<String, String> = provision
            .config
            .iter()
            .map(|(key, value)| (key.clone(), value.to_string()))
            .collect();
        let access = Access::new(&grants, namespace, values);
        let limits = limits::of_module(config, tool);
        let (runner, specs) = if module.is_command() {
            let (parameters, template) = match tool {
                Some(tool) if commands::is_described(tool) => commands::described(tool, name),
                _ => command::any_arguments(name),
            };
            let specs = vec![commands::spec(name, name, &parameters)];
            let runner = Runner::Command(Box::new(CommandTool {
                template,
                parameters,
                adapter: Arc::new(WasmAdapter::of_module(
                    Arc::clone(&self.loader),
                    Arc::clone(module),
                    &grants,
                    SessionLimits {
                        max_memory: limits.max_memory.value,
                        max_output: limits.max_output.value,
                    },
                    config.runtime.workspace.value.clone(),
                )),
                env: std::collections::HashMap::new(),
                working_dir: tool
                    .and_then(|tool| tool.working_dir.as_ref())
                    .map(|folder| folder.value.clone()),
                max_memory: None,
                module: Some(Arc::clone(module)),
            }));
            (runner, specs)
        } else {
            if let Some(tool) = tool
                && commands::is_described(tool)
            {
                return Err(NotMade {
                    reason: format!(
                        "`{}` is a skill, and says itself what it takes",
                        module.path().display()
                    ),
                    help: Some(
                        "remove `args`, `stdin`, `output` and `parameters` of the entry".into(),
                    ),
                });
            }
            let module = Arc::clone(module);
            let specs = module.descriptor().tools.clone();
            (Runner::Skill(Skill { module, access }), specs)
        };
        let entry = Entry {
            name: name.to_owned(),
            place: tool.map(|tool| tool.place.clone()),
            backend: Backend::Wasm,
            grants,
            limits,
            runner,
        };
        Ok((entry, specs))
    }
}

fn source(file: ModuleFile) -> ModuleSource {
    match file {
        ModuleFile::Inside {
            folder,
            folder_path,
            file,
        } => ModuleSource::inside(&folder, &folder_path, file),
        ModuleFile::Absolute(path) => ModuleSource::absolute(path),
    }
}

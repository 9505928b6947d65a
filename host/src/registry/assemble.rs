//! From a plan to a snapshot: modules are loaded side by side, then named in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::Entry;
use super::grants;
use super::naming;
use super::plan::{self, Planned, Scope};
use super::snapshot::{Broken, Snapshot, Tool};
use crate::config::{Backend, Config, Environment};

/// How loading comes along.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadEvent {
    /// So many modules will be loaded.
    Started {
        /// Their number.
        modules: usize,
    },
    /// One more is done.
    Loaded {
        /// Its file.
        module: PathBuf,
        /// Whether it serves.
        ok: bool,
        /// Whether an earlier host had compiled it.
        from_cache: bool,
    },
    /// All are done.
    Finished,
}

/// Hears [`LoadEvent`]s; must return at once.
pub type LoadListener = Arc<dyn Fn(LoadEvent) + Send + Sync>;

#[cfg(feature = "wasm-runtime")]
pub(crate) use with_modules::Assembler;

#[cfg(feature = "wasm-runtime")]
mod with_modules {
    use indexmap::IndexMap;
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    use super::{
        Arc, BTreeMap, Backend, Broken, Config, Entry, Environment, LoadEvent, LoadListener,
        PathBuf, Planned, Scope, Snapshot, Tool, broken, grants, naming, plan,
    };
    use crate::config::ToolEntry;
    use crate::model::Grants;
    use crate::registry::plan::ModuleFile;
    use crate::runtime::wasm::access::Access;
    use crate::runtime::wasm::fault::ModuleFault;
    use crate::runtime::wasm::loader::Loader;
    use crate::runtime::wasm::module::Module;
    use crate::runtime::wasm::source::ModuleSource;
    use crate::runtime::wasm::state::StateStore;

    type Loaded = Result<Arc<Module>, ModuleFault>;

    /// Makes snapshots for one host.
    pub(crate) struct Assembler {
        pub loader: Arc<Loader>,
        pub state: StateStore,
        pub environment: Environment,
        pub listener: Option<LoadListener>,
    }

    impl Assembler {
        /// Loads what `scope` asks for and freezes it as snapshot `number`.
        pub async fn assemble(&self, config: &Config, scope: &Scope, number: u64) -> Snapshot {
            let mut plan = plan::plan(config, scope);
            self.tell(LoadEvent::Started {
                modules: plan.entries.len(),
            });
            let loaded = self.load(&plan.entries).await;
            self.tell(LoadEvent::Finished);
            let mut tools = BTreeMap::new();
            for (name, planned) in &plan.entries {
                let module = match &loaded[&planned.file.path()] {
                    Ok(module) => Arc::clone(module),
                    Err(fault) => {
                        plan.broken
                            .push(broken(name, planned, fault.to_string(), fault.help()));
                        continue;
                    }
                };
                match self.entry(config, name, planned.tool, module) {
                    Ok(entry) => {
                        add_tools(&Arc::new(entry), planned, &mut tools, &mut plan.broken);
                    }
                    Err(reason) => plan.broken.push(broken(name, planned, reason, None)),
                }
            }
            Snapshot::new(number, tools, plan.broken)
        }

        fn tell(&self, event: LoadEvent) {
            if let Some(listener) = &self.listener {
                listener(event);
            }
        }

        /// Loads each file once, as many at a time as there are processors.
        async fn load(&self, entries: &BTreeMap<String, Planned<'_>>) -> BTreeMap<PathBuf, Loaded> {
            let width = std::thread::available_parallelism().map_or(1, usize::from);
            let places = Arc::new(Semaphore::new(width));
            let files: BTreeMap<PathBuf, ModuleFile> = entries
                .values()
                .map(|entry| (entry.file.path(), entry.file.clone()))
                .collect();
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
                self.tell(LoadEvent::Loaded {
                    module: path.clone(),
                    ok: module.is_ok(),
                    from_cache: module.as_ref().is_ok_and(|module| module.from_cache()),
                });
                loaded.insert(path, module);
            }
            loaded
        }

        fn entry(
            &self,
            config: &Config,
            name: &str,
            tool: Option<&ToolEntry>,
            module: Arc<Module>,
        ) -> Result<Entry, String> {
            let grants: Grants = grants::grants(config, tool, &self.environment);
            let namespace = match grants.state_bytes {
                0 => None,
                _ => Some(
                    self.state
                        .namespace(name)
                        .map_err(|error| error.to_string())?,
                ),
            };
            let values: IndexMap<String, String> = tool
                .iter()
                .flat_map(|tool| &tool.config)
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect();
            Ok(Entry {
                name: name.to_owned(),
                place: tool.map(|tool| tool.place.clone()),
                backend: Backend::Wasm,
                access: Access::new(&grants, namespace, values),
                grants,
                limits: grants::limits(config, tool),
                module,
            })
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

    fn add_tools(
        entry: &Arc<Entry>,
        planned: &Planned<'_>,
        tools: &mut BTreeMap<String, Arc<Tool>>,
        faults: &mut Vec<Broken>,
    ) {
        let specs = &entry.module().descriptor().tools;
        for spec in specs {
            let only = specs.len() == 1;
            let name = match naming::tool_name(entry.name(), spec, only) {
                Ok(name) => name,
                Err(reason) => {
                    let help = Some("give the entry a shorter name");
                    faults.push(broken(entry.name(), planned, reason, help));
                    continue;
                }
            };
            if let Some(first) = tools.get(&name) {
                let reason = format!(
                    "the entry `{}` has a tool of this name",
                    first.entry().name()
                );
                let help = Some("give one of the two entries another name");
                faults.push(broken(&name, planned, reason, help));
                continue;
            }
            let mut spec = spec.clone();
            // The operator may describe a tool in his own words.
            if let Some(description) = planned.tool.and_then(|tool| tool.description.as_ref())
                && only
            {
                spec.description.clone_from(&description.value);
            }
            let tool = Tool::new(name.clone(), spec, Arc::clone(entry));
            tools.insert(name, Arc::new(tool));
        }
    }
}

fn broken(name: &str, planned: &Planned<'_>, reason: String, help: Option<&str>) -> Broken {
    Broken {
        name: name.to_owned(),
        module: Some(planned.file.path()),
        backend: Backend::Wasm.as_str(),
        place: planned.tool.map(|tool| tool.place.to_string()),
        reason,
        help: help.map(str::to_owned),
    }
}

/// What a host without the WASM backend knows: everything is there and nothing runs.
#[cfg(not(feature = "wasm-runtime"))]
pub(crate) fn without_modules(config: &Config, scope: &Scope, number: u64) -> Snapshot {
    let mut plan = plan::plan(config, scope);
    for (name, planned) in &plan.entries {
        plan.broken.push(broken(
            name,
            planned,
            "this prx-host was built without the `wasm` backend".into(),
            Some("build it with `--features wasm-runtime`"),
        ));
    }
    Snapshot::new(number, BTreeMap::new(), plan.broken)
}

//! From a plan to a snapshot: modules are loaded side by side, then every entry is made
//! and its tools are named, in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::commands;
use super::entry::Entry;
#[cfg(feature = "wasm-runtime")]
use super::modules::Modules;
use super::naming;
use super::plan::{self, ModuleFile, Planned, Scope, Subject};
use super::snapshot::{Broken, Snapshot, Tool};
use crate::config::{Config, Environment};
use crate::model::ToolSpec;
use crate::runtime::{Backends, RuntimeError};

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

/// Makes snapshots for one host.
pub(crate) struct Assembler {
    #[cfg(feature = "wasm-runtime")]
    pub modules: Modules,
    pub backends: Backends,
    pub environment: Environment,
    pub listener: Option<LoadListener>,
}

/// An entry, and what it offers.
pub(super) type Made = (Entry, Vec<ToolSpec>);

/// Why an entry can not be made.
pub(super) struct NotMade {
    pub reason: String,
    pub help: Option<String>,
}

impl From<String> for NotMade {
    fn from(reason: String) -> Self {
        Self { reason, help: None }
    }
}

impl From<RuntimeError> for NotMade {
    fn from(error: RuntimeError) -> Self {
        Self {
            reason: error.to_string(),
            help: error.help(),
        }
    }
}

impl Assembler {
    /// Loads what `scope` asks for and freezes it as snapshot `number`.
    pub async fn assemble(&self, config: &Config, scope: &Scope, number: u64) -> Snapshot {
        let selection = if plan::needs_selection(config, scope) {
            Some(self.backends.selection().await)
        } else {
            None
        };
        let mut plan = plan::plan(config, scope, selection);
        let modules = plan.entries.values().filter_map(Planned::module);
        self.tell(LoadEvent::Started {
            modules: modules.count(),
        });
        #[cfg(feature = "wasm-runtime")]
        let loaded = {
            let modules = plan.entries.values().filter_map(Planned::module);
            self.modules.load(modules, &|event| self.tell(event)).await
        };
        self.tell(LoadEvent::Finished);
        let mut tools = BTreeMap::new();
        for (name, planned) in &plan.entries {
            let made = match &planned.subject {
                #[cfg(feature = "wasm-runtime")]
                Subject::Module(file) => {
                    let module = &loaded[&file.path()];
                    self.modules
                        .entry(config, name, planned.tool, module, &self.environment)
                }
                #[cfg(not(feature = "wasm-runtime"))]
                Subject::Module(_) => Err(without_modules()),
                Subject::Command(backend) => match planned.tool {
                    Some(tool) => {
                        commands::entry(config, tool, *backend, &self.backends, &self.environment)
                    }
                    None => Err("it has no entry".to_owned().into()),
                },
                Subject::Shell(backend) => {
                    commands::shell(config, name, *backend, &self.backends).await
                }
            };
            match made {
                Ok((entry, specs)) => {
                    add_tools(
                        &Arc::new(entry),
                        specs,
                        planned,
                        &mut tools,
                        &mut plan.broken,
                    );
                }
                Err(why) => {
                    let help = why.help.as_deref();
                    plan.broken.push(broken(name, planned, why.reason, help));
                }
            }
        }
        Snapshot::new(number, tools, plan.broken)
    }

    fn tell(&self, event: LoadEvent) {
        if let Some(listener) = &self.listener {
            listener(event);
        }
    }
}

#[cfg(not(feature = "wasm-runtime"))]
fn without_modules() -> NotMade {
    NotMade {
        reason: "this prx-host was built without the `wasm` backend".into(),
        help: Some("build it with `--features wasm-runtime`".into()),
    }
}

fn add_tools(
    entry: &Arc<Entry>,
    specs: Vec<ToolSpec>,
    planned: &Planned<'_>,
    tools: &mut BTreeMap<String, Arc<Tool>>,
    faults: &mut Vec<Broken>,
) {
    let only = specs.len() == 1;
    for mut spec in specs {
        let name = match naming::tool_name(entry.name(), &spec, only) {
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

fn broken(name: &str, planned: &Planned<'_>, reason: String, help: Option<&str>) -> Broken {
    Broken {
        name: name.to_owned(),
        module: planned.module().map(ModuleFile::path),
        backend: planned.backend().as_str(),
        place: planned.tool.map(|tool| tool.place.to_string()),
        reason,
        help: help.map(str::to_owned),
    }
}

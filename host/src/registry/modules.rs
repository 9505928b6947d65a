//! Entries of modules: skills, and commands that are modules.

use std::sync::Arc;

use indexmap::IndexMap;

use super::commands;
use super::entry::{CommandTool, Entry, Runner, Skill, Started};
use super::limits;
use super::made::{NotMade, Offer};
use super::provided;
use crate::command;
use crate::config::{Backend, Config, Environment, ToolEntry};
use crate::grants::grants;
use crate::model::Shown as _;
use crate::runtime::wasm::access::Access;
use crate::runtime::wasm::adapter::WasmAdapter;
use crate::runtime::wasm::loader::Loader;
use crate::runtime::wasm::module::Module;
use crate::runtime::wasm::session::SessionLimits;
use crate::runtime::wasm::state::StateStore;

/// Makes entries of modules.
pub(crate) struct Modules {
    loader: Arc<Loader>,
    state: StateStore,
}

impl Modules {
    pub fn new(loader: Arc<Loader>, state: StateStore) -> Self {
        Self { loader, state }
    }

    /// Makes the entry of a loaded module: a skill, or a command.
    pub(super) fn entry(
        &self,
        config: &Config,
        name: &str,
        tool: Option<&ToolEntry>,
        module: &Arc<Module>,
        environment: &Environment,
        started: Started,
    ) -> Result<Offer, NotMade> {
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
                        module.path().shown()
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
            started,
            written: tool.cloned().map(Box::new),
        };
        Ok((entry, specs))
    }
}

//! How a module will be served once it lies in the module folder: by which entries, with
//! which tools and grants.
//!
//! Invariant: it is the registry that says so, asked about a folder which holds nothing
//! but this module; nothing is computed here that a host would compute otherwise.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::InstallError;
use super::name::ModuleName;
use super::naming_entries::{NamingEntry, naming};
use crate::config::{Config, Environment, Place};
use crate::grants::grants;
use crate::host::Host;
use crate::model::{Grants, Shown as _, ToolSpec};
use crate::registry::{Broken, Snapshot};
use crate::runtime::wasm::engine::Allocation;

/// One entry that serves a module, or would if it were switched on.
#[derive(Clone, Debug)]
pub struct Served {
    /// The entry: one of the configuration, or the file's name.
    pub entry: String,
    /// Where the configuration speaks of it; `None`: it does not.
    pub place: Option<Place>,
    /// Where it is switched off, if it is: `key (file:line)`.
    pub switched_off: Option<String>,
    /// The tools, by the names that agents use.
    pub tools: Vec<(String, ToolSpec)>,
    /// What it may touch from the moment that the module lies there.
    pub grants: Grants,
    /// Names of the settings that it can read: `[tools.custom.<entry>.config]`.
    pub settings: Vec<String>,
    /// Why it, or some of its tools, can not be called, and what to do.
    pub broken: Vec<Broken>,
}

impl Served {
    /// Whether it is given anything.
    pub fn is_granted_anything(&self) -> bool {
        let Grants {
            folders,
            variables,
            network,
            state_bytes,
        } = &self.grants;
        let nothing = folders.is_empty()
            && variables.is_empty()
            && network.is_empty()
            && *state_bytes == 0
            && self.settings.is_empty();
        !nothing && self.switched_off.is_none()
    }
}

/// Asks the registry.
pub(super) async fn preview(
    config: &Config,
    environment: &Environment,
    name: &ModuleName,
    content: &[u8],
) -> Result<Vec<Served>, InstallError> {
    let file = PathBuf::from(name.file_name());
    let entries = naming(config, &file);
    let stage = stage(&file, content)?;
    let mut staged = config.clone();
    staged.runtime.wasm.module_path.value = stage.path().to_owned();
    staged.shell.enabled.value = false;
    staged
        .tools
        .retain(|name, _| entries.iter().any(|entry| entry.tool.name == *name));
    for module in staged.tools.values_mut().filter_map(|t| t.module.as_mut()) {
        module.value.clone_from(&file);
    }
    let host = Host::builder(staged)
        .environment(environment.clone())
        .allocation(Allocation::OnDemand)
        .open()
        .await?;
    let snapshot = host.snapshot();
    let mut served: Vec<Served> = entries
        .iter()
        .map(|entry| of_entry(config, environment, entry))
        .collect();
    for name in entry_names(&snapshot) {
        if !served.iter().any(|known| known.entry == name) {
            served.push(implicit(config, environment, name));
        }
    }
    let real = config.runtime.wasm.module_path.value.shown().to_string();
    let shown = stage.path().shown().to_string();
    for one in &mut served {
        fill(one, &snapshot);
        for broken in &mut one.broken {
            broken.reason = broken.reason.replace(&shown, &real);
        }
    }
    // A command that runs as a program all the same is not served by the module.
    served.retain(|one| {
        let as_command = entries
            .iter()
            .any(|entry| entry.as_command && entry.tool.name == one.entry);
        !as_command || !one.tools.is_empty() || !one.broken.is_empty()
    });
    Ok(served)
}

/// A folder of this process with nothing in it but the module.
fn stage(file: &Path, content: &[u8]) -> Result<tempfile::TempDir, InstallError> {
    let failed = |path: &Path, error| InstallError::Io {
        what: "can not write a copy to look at into",
        path: path.to_owned(),
        error,
    };
    let stage = tempfile::tempdir().map_err(|error| failed(&std::env::temp_dir(), error))?;
    fs::write(stage.path().join(file), content).map_err(|error| failed(stage.path(), error))?;
    Ok(stage)
}

fn of_entry(config: &Config, environment: &Environment, entry: &NamingEntry<'_>) -> Served {
    let tool = entry.tool;
    // Their values are nobody's business here, and may not even be there yet.
    let env: IndexMap<String, String> = tool
        .env
        .value
        .keys()
        .map(|name| (name.clone(), String::new()))
        .collect();
    Served {
        entry: tool.name.clone(),
        place: Some(tool.place.clone()),
        switched_off: (!tool.enabled.value).then(|| tool.enabled.origin()),
        tools: Vec::new(),
        grants: grants(config, Some(tool), &env, environment),
        settings: tool.config.keys().cloned().collect(),
        broken: Vec::new(),
    }
}

/// The entry of a file that the configuration does not speak of.
fn implicit(config: &Config, environment: &Environment, name: &str) -> Served {
    Served {
        entry: name.to_owned(),
        place: None,
        switched_off: None,
        tools: Vec::new(),
        grants: grants(config, None, &IndexMap::new(), environment),
        settings: Vec::new(),
        broken: Vec::new(),
    }
}

/// The entries of a snapshot that have a module.
fn entry_names(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let tools = snapshot.tools().filter_map(|tool| {
        let entry = tool.entry();
        entry.module().is_some().then(|| entry.name())
    });
    let broken = snapshot.broken().iter();
    tools.chain(
        broken
            .filter(|one| one.module.is_some())
            .map(|one| one.name.as_str()),
    )
}

fn fill(served: &mut Served, snapshot: &Snapshot) {
    let tools = snapshot.tools().filter(|tool| {
        let entry = tool.entry();
        entry.name() == served.entry && entry.module().is_some()
    });
    served.tools = tools
        .map(|tool| (tool.name().to_owned(), tool.spec().clone()))
        .collect();
    let broken = snapshot.broken().iter();
    served.broken = broken
        .filter(|one| one.name == served.entry && one.module.is_some())
        .cloned()
        .collect();
}

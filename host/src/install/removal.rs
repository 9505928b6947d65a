//! Which file serves a tool, what goes with it, and its removal.
//!
//! Invariant: only names in the module folder are removed: a link itself, never what it
//! leads to.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::naming_entries::{described, naming};
use super::{RemoveError, folder};
use crate::config::{Config, ToolEntry};
use crate::registry::Snapshot;
use crate::runtime::IN_FOLDER;
use crate::runtime::module_file;

/// An entry of the configuration that names a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBy {
    /// The entry.
    pub entry: String,
    /// Where it stands: `file:line`.
    pub place: String,
    /// Whether it is switched off.
    pub is_off: bool,
    /// Whether it names the module as its command: it runs a program of that name then.
    pub as_command: bool,
}

/// A module that can be removed, and what goes with it.
#[derive(Clone, Debug)]
pub struct Removal {
    folder: PathBuf,
    inside: PathBuf,
    /// The tools that it serves.
    pub tools: Vec<String>,
    /// Why it does not serve, if it does not.
    pub broken: Option<String>,
    /// Entries that name it; they stay in the configuration.
    pub named_by: Vec<NamedBy>,
    /// What the file leads to, if it is a link: that stays.
    pub link_to: Option<PathBuf>,
    /// What lies beside it in a folder of its own: that stays.
    pub beside: Vec<String>,
}

/// Finds the module that serves a tool: by the name of the tool, of an entry, or of a
/// file (with or without `.wasm`), whether it serves or is broken. `snapshot` is that of
/// all tools.
///
/// # Errors
///
/// Names of nothing, and of what is no module in the module folder.
pub fn find_removal(
    config: &Config,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Removal, RemoveError> {
    let path = config.runtime.wasm.module_path.value.clone();
    let folder = folder::open(&path).map_err(|error| RemoveError::Io {
        what: "can not open the module folder",
        path: path.clone(),
        error,
    })?;
    let module = match name.strip_suffix(".wasm") {
        Some(stem) => of_file(&path, folder.as_ref(), stem),
        None => match of_tool(config, snapshot, name)? {
            Some(module) => Some(module),
            None => of_file(&path, folder.as_ref(), name),
        },
    };
    let module = module.ok_or_else(|| RemoveError::Unknown {
        name: name.to_owned(),
    })?;
    let Some(inside) = folder::inside(&module, &path) else {
        return Err(outside(config, &module));
    };
    let folder = folder.ok_or_else(|| RemoveError::Missing {
        path: module.clone(),
    })?;
    Removal::of(config, snapshot, &folder, &path, inside)
}

/// The module of a tool or entry, broken or not.
fn of_tool(
    config: &Config,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<PathBuf>, RemoveError> {
    let mut tools = snapshot.tools();
    let served = snapshot
        .tool(name)
        .or_else(|| tools.find(|tool| tool.entry().name() == name));
    if let Some(tool) = served {
        let entry = tool.entry();
        return match (entry.module(), described(config, entry)) {
            (Some(module), _) => Ok(Some(module.path().to_owned())),
            (None, Some(tool)) => Err(RemoveError::of_command(tool)),
            (None, None) => Err(RemoveError::Shell {
                name: name.to_owned(),
            }),
        };
    }
    // What is no entry has a name in brackets.
    let broken = snapshot
        .broken()
        .iter()
        .find(|one| one.name == name && !name.starts_with('('));
    if let Some(module) = broken.and_then(|one| one.module.clone()) {
        return Ok(Some(module));
    }
    // One that is switched off is in no snapshot.
    let Some(tool) = config.tools.get(name) else {
        return Ok(None);
    };
    match &tool.module {
        Some(module) => Ok(Some(
            config.runtime.wasm.module_path.value.join(&module.value),
        )),
        None => Err(RemoveError::of_command(tool)),
    }
}

/// The file of that name in the module folder, by itself or in a folder of its own.
fn of_file(path: &Path, folder: Option<&Dir>, stem: &str) -> Option<PathBuf> {
    let folder = folder?;
    // A name, and no way to somewhere else.
    let mut parts = Path::new(stem).components();
    let is_name = matches!(parts.next(), Some(std::path::Component::Normal(_)));
    if !is_name || parts.next().is_some() {
        return None;
    }
    let candidates = [
        PathBuf::from(format!("{stem}.wasm")),
        Path::new(stem).join(IN_FOLDER),
    ];
    let is_there = |file: &PathBuf| folder.symlink_metadata(file).is_ok();
    candidates
        .into_iter()
        .find(is_there)
        .map(|file| path.join(file))
}

fn outside(config: &Config, module: &Path) -> RemoveError {
    let modules = &config.runtime.wasm.module_path.value;
    let names_it = |tool: &&ToolEntry| match (&tool.module, &tool.command) {
        (Some(named), _) => modules.join(&named.value) == *module,
        (None, Some(command)) => modules.join(module_file(&command.value, modules)) == *module,
        (None, None) => false,
    };
    let entry = config.tools.values().find(names_it);
    RemoveError::Outside {
        path: module.to_owned(),
        entry: entry.map(|entry| (entry.name.clone(), entry.place.to_string())),
    }
}

impl NamedBy {
    fn of(tool: &ToolEntry, as_command: bool) -> Self {
        Self {
            entry: tool.name.clone(),
            place: tool.place.to_string(),
            is_off: !tool.enabled.value,
            as_command,
        }
    }
}

impl Removal {
    fn of(
        config: &Config,
        snapshot: &Snapshot,
        folder: &Dir,
        path: &Path,
        inside: PathBuf,
    ) -> Result<Self, RemoveError> {
        let module = path.join(&inside);
        let failed = |error| RemoveError::Io {
            what: "can not look at",
            path: module.clone(),
            error,
        };
        let Some(found) = folder::metadata(folder, &inside).map_err(failed)? else {
            return Err(RemoveError::Missing { path: module });
        };
        if found.is_dir() {
            return Err(RemoveError::NoFile { path: module });
        }
        let link_to = if found.is_symlink() {
            Some(folder.read_link_contents(&inside).map_err(failed)?)
        } else {
            None
        };
        let is_it = |other: &Path| folder::inside(other, path).is_some_and(|found| found == inside);
        let serving = snapshot.tools().filter(|tool| {
            let served = tool.entry().module();
            served.is_some_and(|served| is_it(served.path()))
        });
        let mut named_by: Vec<NamedBy> = naming(config, &inside)
            .into_iter()
            .map(|entry| NamedBy::of(entry.tool, entry.as_command))
            .collect();
        let mut tools = Vec::new();
        for tool in serving {
            tools.push(tool.name().to_owned());
            // It may be served to an entry that does not write its path.
            if let Some(entry) = described(config, tool.entry())
                && !named_by.iter().any(|known| known.entry == entry.name)
            {
                named_by.push(NamedBy::of(entry, false));
            }
        }
        let mut broken = snapshot.broken().iter();
        Ok(Self {
            tools,
            broken: broken
                .find(|one| one.module.as_deref().is_some_and(is_it))
                .map(|one| one.reason.clone()),
            named_by,
            link_to,
            beside: beside(folder, &inside).map_err(failed)?,
            folder: path.to_owned(),
            inside,
        })
    }

    /// The file.
    pub fn module(&self) -> PathBuf {
        self.folder.join(&self.inside)
    }

    /// Removes the file, and nothing else. Blocks.
    ///
    /// # Errors
    ///
    /// When it has gone already, and when the folder refuses.
    pub fn remove(&self) -> Result<(), RemoveError> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => RemoveError::Missing {
                path: self.module(),
            },
            _ => RemoveError::Io {
                what: "can not remove",
                path: self.module(),
                error,
            },
        };
        let folder = folder::open(&self.folder)
            .and_then(|folder| folder.ok_or_else(|| std::io::ErrorKind::NotFound.into()))
            .map_err(failed)?;
        folder.remove_file(&self.inside).map_err(failed)?;
        match self.inside.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                if let Ok(parent) = folder.open_dir(parent) {
                    folder::sync(&parent);
                }
            }
            _ => folder::sync(&folder),
        }
        Ok(())
    }
}

/// What else is in the folder of a module that has one of its own.
fn beside(folder: &Dir, inside: &Path) -> std::io::Result<Vec<String>> {
    let Some(parent) = inside.parent().filter(|_| inside.ends_with(IN_FOLDER)) else {
        return Ok(Vec::new());
    };
    if parent.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in folder.read_dir(parent)? {
        let name = entry?.file_name();
        if name != IN_FOLDER {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

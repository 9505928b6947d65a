//! What there is to load: configured entries, and the modules in the module folder that
//! no entry names.
//!
//! Invariant: the plan is in name order, so that of two claims to a name the same one
//! wins on every start.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::naming;
use super::snapshot::Broken;
use crate::config::{Backend, Config, ToolEntry};

/// Which tools a host is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All.
    #[default]
    All,
    /// What can offer a tool of this name: a host for one call loads nothing else.
    Tool(String),
}

impl Scope {
    fn admits(&self, entry: &str) -> bool {
        match self {
            Self::All => true,
            Self::Tool(tool) => naming::may_have(entry, tool),
        }
    }
}

/// Entries to load, and what is broken already.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub entries: BTreeMap<String, Planned<'a>>,
    pub broken: Vec<Broken>,
}

/// One entry to load.
#[derive(Clone)]
pub(super) struct Planned<'a> {
    pub tool: Option<&'a ToolEntry>,
    pub file: ModuleFile,
}

/// Where a module lies.
#[derive(Clone)]
pub(super) enum ModuleFile {
    /// In the module folder, by this path in there.
    Inside {
        folder: Arc<Dir>,
        folder_path: PathBuf,
        file: PathBuf,
    },
    /// Wherever the operator said.
    Absolute(PathBuf),
}

impl ModuleFile {
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Inside {
                folder_path, file, ..
            } => folder_path.join(file),
            Self::Absolute(path) => path.clone(),
        }
    }
}

/// Makes the plan.
pub(super) fn plan<'a>(config: &'a Config, scope: &Scope) -> Plan<'a> {
    let mut plan = Plan::default();
    let folder_path = &config.runtime.wasm.module_path.value;
    let folder = match Dir::open_ambient_dir(folder_path, ambient_authority()) {
        Ok(folder) => Some(Arc::new(folder)),
        Err(error) => {
            note_folder(config, &error, &mut plan);
            None
        }
    };
    let mut named = HashSet::new();
    for tool in config.tools.values() {
        plan_tool(config, tool, folder.as_ref(), scope, &mut named, &mut plan);
    }
    if let Some(folder) = &folder {
        plan_folder(folder, folder_path, scope, &named, &mut plan);
    }
    plan
}

/// A folder that nobody wrote into the configuration need not exist.
fn note_folder(config: &Config, error: &std::io::Error, plan: &mut Plan<'_>) {
    let setting = &config.runtime.wasm.module_path;
    if setting.place.is_none() && error.kind() == ErrorKind::NotFound {
        return;
    }
    plan.broken.push(Broken {
        name: "(module folder)".into(),
        module: Some(setting.value.clone()),
        backend: Backend::Wasm.as_str(),
        place: setting.place.as_ref().map(ToString::to_string),
        reason: format!("the module folder can not be opened: {error}"),
        help: Some(format!("create it, or correct `{}`", setting.key)),
    });
}

fn plan_tool<'a>(
    config: &Config,
    tool: &'a ToolEntry,
    folder: Option<&Arc<Dir>>,
    scope: &Scope,
    named: &mut HashSet<PathBuf>,
    plan: &mut Plan<'a>,
) {
    let Some(module) = &tool.module else {
        if tool.enabled.value && scope.admits(&tool.name) {
            plan.broken.push(without_backend(config, tool));
        }
        return;
    };
    let folder_path = &config.runtime.wasm.module_path.value;
    // `module = "/modules/x.wasm"` names the same file as `module = "x.wasm"`.
    let inside = module
        .value
        .strip_prefix(folder_path)
        .unwrap_or(&module.value);
    named.insert(inside.to_owned());
    if !tool.enabled.value || !scope.admits(&tool.name) {
        return;
    }
    let file = match folder {
        Some(folder) if inside.is_relative() => ModuleFile::Inside {
            folder: Arc::clone(folder),
            folder_path: folder_path.clone(),
            file: inside.to_owned(),
        },
        _ => ModuleFile::Absolute(folder_path.join(inside)),
    };
    plan.entries.insert(
        tool.name.clone(),
        Planned {
            tool: Some(tool),
            file,
        },
    );
}

/// Commands wait for their adapters.
fn without_backend(config: &Config, tool: &ToolEntry) -> Broken {
    let backend = tool.backend.as_ref().map(|backend| backend.value);
    let backend = backend
        .or(config.runtime.backend.value)
        .unwrap_or(Backend::Native);
    Broken {
        name: tool.name.clone(),
        module: None,
        backend: backend.as_str(),
        place: Some(tool.place.to_string()),
        reason: format!(
            "this version of prx-host has no `{}` backend",
            backend.as_str()
        ),
        help: Some("offer the tool as a WebAssembly skill, or set `enabled = false`".into()),
    }
}

fn plan_folder(
    folder: &Arc<Dir>,
    folder_path: &Path,
    scope: &Scope,
    named: &HashSet<PathBuf>,
    plan: &mut Plan<'_>,
) {
    let files = match module_files(folder) {
        Ok(files) => files,
        Err(error) => {
            plan.broken.push(broken_file(
                folder_path,
                "(module folder)",
                format!("the module folder can not be read: {error}"),
                None,
            ));
            return;
        }
    };
    for file in files {
        if named.contains(Path::new(&file)) {
            continue;
        }
        let stem = file.strip_suffix(".wasm").unwrap_or(&file).to_owned();
        if !scope.admits(&stem) {
            continue;
        }
        let path = folder_path.join(&file);
        if !naming::is_name(&stem) {
            let shown: String = stem.chars().flat_map(char::escape_debug).collect();
            plan.broken.push(broken_file(
                &path,
                &shown,
                format!(
                    "`{shown}` can not be a tool's name: only 1 to {} letters, digits, `_` and `-`",
                    naming::MAX_NAME_BYTES
                ),
                Some(
                    "rename the file, or name it with `module` in an entry of the configuration"
                        .into(),
                ),
            ));
        } else if let Some(taken) = plan.entries.get(&stem) {
            let reason = format!(
                "the name `{stem}` is taken by the entry for `{}`",
                taken.file.path().display()
            );
            let help = Some("give one of them another name".into());
            plan.broken.push(broken_file(&path, &stem, reason, help));
        } else {
            let file = ModuleFile::Inside {
                folder: Arc::clone(folder),
                folder_path: folder_path.to_owned(),
                file: file.into(),
            };
            plan.entries.insert(stem, Planned { tool: None, file });
        }
    }
}

fn broken_file(path: &Path, name: &str, reason: String, help: Option<String>) -> Broken {
    Broken {
        name: name.to_owned(),
        module: Some(path.to_owned()),
        backend: Backend::Wasm.as_str(),
        place: None,
        reason,
        help,
    }
}

/// Names that end in `.wasm`, in order; hidden files are somebody's work in progress.
fn module_files(folder: &Dir) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for item in folder.entries()? {
        let item = item?;
        let name = item.file_name().to_string_lossy().into_owned();
        let is_module = Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "wasm")
            && !name.starts_with('.');
        if is_module && !item.file_type()?.is_dir() {
            files.push(name);
        }
    }
    files.sort_unstable();
    Ok(files)
}

//! What there is to load: configured entries, the shell where it is switched on, and the
//! modules in the module folder that no entry names.
//!
//! Invariant: the plan is in name order, so that of two claims to a name the same one
//! wins on every start.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use super::folder::ModuleFolder;
use super::naming;
use super::snapshot::Broken;
use crate::config::{Backend, Config, ToolEntry};
use crate::runtime::{Selection, is_module, module_file};

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
    pub(super) fn admits(&self, entry: &str) -> bool {
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
    pub subject: Subject,
    /// Whether it is planned only because it served, and its file is not seen now.
    pub lingers: bool,
    /// The file that had the name until this one claimed it, and serves until this one
    /// can.
    pub rival: Option<ModuleFile>,
}

/// What an entry is about.
#[derive(Clone)]
pub(super) enum Subject {
    /// A module.
    Module(ModuleFile),
    /// The command of the entry, on this backend.
    Command(Backend),
    /// Lines for the shell of this backend.
    Shell(Backend),
}

impl Planned<'_> {
    /// The module, if it is about one.
    pub fn module(&self) -> Option<&ModuleFile> {
        match &self.subject {
            Subject::Module(file) => Some(file),
            Subject::Command(_) | Subject::Shell(_) => None,
        }
    }

    /// The files that may serve for it, the one that it is about first.
    pub fn modules(&self) -> impl Iterator<Item = &ModuleFile> {
        self.module().into_iter().chain(&self.rival)
    }

    /// The file that serves so far, and the one that will serve in its place.
    #[cfg(feature = "wasm-runtime")]
    pub fn heir(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.rival.as_ref()?.path(), self.module()?.path()))
    }

    /// What would run it.
    pub fn backend(&self) -> Backend {
        match self.subject {
            Subject::Module(_) => Backend::Wasm,
            Subject::Command(backend) | Subject::Shell(backend) => backend,
        }
    }
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

/// The name of the built-in tool for lines of a shell.
pub(crate) const SHELL: &str = "shell";

/// Whether some entry runs on whatever backend is selected.
pub(super) fn needs_selection(config: &Config, scope: &Scope) -> bool {
    let open = |tool: &ToolEntry| {
        tool.backend.is_none()
            && tool.command.is_some()
            && tool.enabled.value
            && scope.admits(&tool.name)
    };
    let shell = &config.shell;
    config.tools.values().any(open)
        || (shell.enabled.value && shell.backend.is_none() && scope.admits(SHELL))
}

/// Makes the plan. `selection` runs what names no backend; `lingering` are the modules
/// that served and may only be away for a moment.
pub(super) fn plan<'a>(
    config: &'a Config,
    scope: &Scope,
    selection: Option<&Selection>,
    lingering: &BTreeSet<PathBuf>,
) -> Plan<'a> {
    let mut plan = Plan::default();
    let modules = ModuleFolder::open(config, lingering, &mut plan.broken);
    let folder = modules.folder.clone();
    let mut named = HashSet::new();
    plan_shell(config, scope, selection, &mut plan);
    for tool in config.tools.values() {
        match subject(config, tool, folder.as_ref(), selection) {
            Asked::Module(file) => {
                plan_module(
                    config,
                    tool,
                    folder.as_ref(),
                    &file,
                    scope,
                    &mut named,
                    &mut plan,
                );
            }
            Asked::Command(backend) => plan_command(tool, backend, scope, &mut plan),
        }
    }
    modules.plan(scope, &named, &mut plan);
    plan
}

/// What an entry asks for.
enum Asked {
    Module(PathBuf),
    Command(Backend),
}

/// Decides what an entry is about. Commands of entries without a type run where commands
/// run, and as modules where that is the selected backend.
fn subject(
    config: &Config,
    tool: &ToolEntry,
    folder: Option<&Arc<Dir>>,
    selection: Option<&Selection>,
) -> Asked {
    if let Some(module) = &tool.module {
        return Asked::Module(module.value.clone());
    }
    if let Some(backend) = &tool.backend {
        return Asked::Command(backend.value);
    }
    let Some((selection, command)) = selection.zip(tool.command.as_ref()) else {
        let chosen = config.runtime.backend.value;
        return Asked::Command(chosen.unwrap_or(Backend::Native));
    };
    let file = module_file(&command.value, &config.runtime.wasm.module_path.value);
    let is_there = || is_module(&file, folder.map(Arc::as_ref));
    if selection.backend == Backend::Wasm || (selection.modules_first && is_there()) {
        return Asked::Module(file);
    }
    Asked::Command(selection.backend)
}

fn plan_shell(config: &Config, scope: &Scope, selection: Option<&Selection>, plan: &mut Plan<'_>) {
    let shell = &config.shell;
    if !shell.enabled.value || !scope.admits(SHELL) {
        return;
    }
    let backend = match (&shell.backend, selection) {
        (Some(backend), _) => backend.value,
        (None, Some(selection)) if selection.backend != Backend::Wasm => selection.backend,
        // Modules have no shell.
        (None, _) => Backend::Native,
    };
    let subject = Subject::Shell(backend);
    plan.entries.insert(
        SHELL.to_owned(),
        Planned {
            tool: None,
            subject,
            lingers: false,
            rival: None,
        },
    );
}

fn plan_command<'a>(tool: &'a ToolEntry, backend: Backend, scope: &Scope, plan: &mut Plan<'a>) {
    if !tool.enabled.value || !scope.admits(&tool.name) {
        return;
    }
    let planned = Planned {
        tool: Some(tool),
        subject: Subject::Command(backend),
        lingers: false,
        rival: None,
    };
    plan.add(&tool.name, planned);
}

fn plan_module<'a>(
    config: &Config,
    tool: &'a ToolEntry,
    folder: Option<&Arc<Dir>>,
    module: &Path,
    scope: &Scope,
    named: &mut HashSet<PathBuf>,
    plan: &mut Plan<'a>,
) {
    let folder_path = &config.runtime.wasm.module_path.value;
    // `module = "/modules/x.wasm"` names the same file as `module = "x.wasm"`.
    let inside = module.strip_prefix(folder_path).unwrap_or(module);
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
    let planned = Planned {
        tool: Some(tool),
        subject: Subject::Module(file),
        lingers: false,
        rival: None,
    };
    plan.add(&tool.name, planned);
}

impl<'a> Plan<'a> {
    /// Adds an entry of the configuration; only the shell can be there before it.
    fn add(&mut self, name: &str, planned: Planned<'a>) {
        if !self.entries.contains_key(name) {
            self.entries.insert(name.to_owned(), planned);
            return;
        }
        self.broken.push(Broken {
            name: name.to_owned(),
            module: planned.module().map(ModuleFile::path),
            backend: planned.backend().as_str(),
            place: planned.tool.map(|tool| tool.place.to_string()),
            reason: "the name is that of the tool of `[tools.shell]`".into(),
            help: Some("give the entry another name, or switch the shell off".into()),
            serving: None,
        });
    }
}

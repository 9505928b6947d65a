//! The module folder as part of a plan: the modules in it that no entry names.
//!
//! Invariant: modules that served and are not seen now stay in the plan until whoever
//! loads them says that they are gone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::naming;
use super::plan::{ModuleFile, Plan, Planned, Scope, Subject};
use super::snapshot::Broken;
use crate::config::{Backend, Config};
use crate::model::Shown as _;
use crate::runtime::{module_name, modules_in};

/// The folder at one moment.
pub(super) struct ModuleFolder<'a> {
    /// `None`: it can not be opened.
    pub folder: Option<Arc<Dir>>,
    path: &'a Path,
    /// Those that are seen now, and those that served.
    files: BTreeMap<PathBuf, Seen>,
}

/// What is known of a file in the folder.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// It is there.
    now: bool,
    /// Its module serves so far.
    serving: bool,
}

impl<'a> ModuleFolder<'a> {
    /// Looks into the folder; `lingering` are whole paths.
    pub fn open(
        config: &'a Config,
        lingering: &BTreeSet<PathBuf>,
        broken: &mut Vec<Broken>,
    ) -> Self {
        let setting = &config.runtime.wasm.module_path;
        let path = setting.value.as_path();
        let inside = lingering
            .iter()
            .filter_map(|file| file.strip_prefix(path).ok());
        let serving = Seen {
            serving: true,
            ..Seen::default()
        };
        let inside = inside.map(|file| (file.to_owned(), serving));
        let mut files: BTreeMap<PathBuf, Seen> = inside.collect();
        let note = |does: &str, error: &std::io::Error| Broken {
            name: "(module folder)".into(),
            module: Some(path.to_owned()),
            backend: Backend::Wasm.as_str(),
            place: setting.place.as_ref().map(ToString::to_string),
            reason: format!("the module folder can not be {does}: {error}"),
            help: Some(format!("create it, or correct `{}`", setting.key)),
            serving: None,
        };
        let folder = match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(folder) => Some(Arc::new(folder)),
            Err(error) => {
                // A folder that nobody wrote into the configuration need not exist.
                if setting.place.is_some() || error.kind() != ErrorKind::NotFound {
                    broken.push(note("opened", &error));
                }
                None
            }
        };
        match folder.as_deref().map(modules_in) {
            Some(Ok(found)) => {
                for file in found {
                    files.entry(file).or_default().now = true;
                }
            }
            Some(Err(error)) => broken.push(note("read", &error)),
            None => {}
        }
        Self {
            folder,
            path,
            files,
        }
    }

    /// Plans the modules whose files no entry names.
    pub fn plan(&self, scope: &Scope, named: &HashSet<PathBuf>, plan: &mut Plan<'_>) {
        for (file, seen) in &self.files {
            let name = module_name(file);
            if named.contains(file) || !scope.admits(&name) {
                continue;
            }
            match self.claim(file, &name, plan) {
                Ok(()) => {
                    let subject = Subject::Module(self.module(file));
                    let planned = Planned {
                        tool: None,
                        subject,
                        lingers: !seen.now,
                        rival: None,
                    };
                    plan.entries.insert(name, planned);
                }
                Err(broken) => {
                    if seen.now {
                        plan.broken.push(broken);
                    }
                    if seen.serving {
                        self.rival(file, &name, plan);
                    }
                }
            }
        }
    }

    /// A file that serves under a name which another one claims now goes on until that one
    /// serves. What an entry claims is the operator's will.
    fn rival(&self, file: &Path, name: &str, plan: &mut Plan<'_>) {
        let Some(planned) = plan.entries.get_mut(name) else {
            return;
        };
        let first = planned.module().map(ModuleFile::path);
        let first = first
            .as_deref()
            .and_then(|first| first.strip_prefix(self.path).ok());
        let is_serving = |file| self.files.get(file).is_some_and(|seen| seen.serving);
        if planned.tool.is_none() && first.is_some_and(|first| !is_serving(first)) {
            planned.rival = Some(self.module(file));
        }
    }

    fn module(&self, file: &Path) -> ModuleFile {
        match &self.folder {
            Some(folder) => ModuleFile::Inside {
                folder: Arc::clone(folder),
                folder_path: self.path.to_owned(),
                file: file.to_owned(),
            },
            None => ModuleFile::Absolute(self.path.join(file)),
        }
    }

    /// Whether a file can have its name.
    fn claim(&self, file: &Path, name: &str, plan: &Plan<'_>) -> Result<(), Broken> {
        let refused = |name: &str, reason, help: &str| Broken {
            name: name.to_owned(),
            module: Some(self.path.join(file)),
            backend: Backend::Wasm.as_str(),
            place: None,
            reason,
            help: Some(help.to_owned()),
            serving: None,
        };
        if !naming::is_name(name) {
            let shown = name.shown().to_string();
            let reason = format!(
                "`{shown}` can not be a tool's name: only 1 to {} letters, digits, `_` and `-`",
                naming::MAX_NAME_BYTES
            );
            let help = "rename the file, or name it with `module` in an entry of the configuration";
            return Err(refused(&shown, reason, help));
        }
        let Some(taken) = plan.entries.get(name) else {
            return Ok(());
        };
        let by = match taken.module() {
            Some(file) => format!("the entry for `{}`", file.path().shown()),
            None => "an entry for a command".to_owned(),
        };
        let reason = format!("the name `{name}` is taken by {by}");
        Err(refused(name, reason, "give one of them another name"))
    }
}

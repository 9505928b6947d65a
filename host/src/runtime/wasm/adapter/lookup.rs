//! From the name of a command to the file of its module.
//!
//! Invariant: without an absolute path no file outside of the module folder is found.

use std::path::PathBuf;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::config::{Setting, nearest};
use crate::model::Shown as _;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::source::ModuleSource;
use crate::runtime::{Result, RuntimeError, is_module, module_file};

/// What the names of modules end in.
const SUFFIX: &str = ".wasm";

/// The module folder, which may come and go.
pub(super) struct ModuleFolder {
    path: Setting<PathBuf>,
}

impl ModuleFolder {
    pub fn new(path: Setting<PathBuf>) -> Self {
        Self { path }
    }

    /// Whether a command is a module by its name; what can not be found out is no.
    pub fn has(&self, command: &str) -> bool {
        let folder = Dir::open_ambient_dir(&self.path.value, ambient_authority()).ok();
        is_module(&module_file(command, &self.path.value), folder.as_ref())
    }

    /// Where the file of a command is, if it is there.
    pub fn place_of(&self, command: &str) -> PathBuf {
        self.path.value.join(module_file(command, &self.path.value))
    }

    /// The file of a command that is there.
    pub fn find(&self, command: &str) -> Result<ModuleSource> {
        let path = &self.path.value;
        let file = module_file(command, path);
        let source = if file.is_absolute() {
            ModuleSource::absolute(file)
        } else {
            let folder = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| {
                self.not_found(
                    command,
                    &format!("the module folder can not be opened: {error}"),
                    format!("create it, or correct `{}`", self.path.key),
                )
            })?;
            ModuleSource::inside(&Arc::new(folder), path, file)
        };
        let Err(error) = source.metadata() else {
            return Ok(source);
        };
        match source.explain(&error) {
            ModuleFault::Missing => {
                let help = self.help(command);
                Err(self.not_found(command, "there is no such file", help))
            }
            fault => Err(super::ending::not_executable(command, &fault)),
        }
    }

    fn not_found(&self, command: &str, reason: &str, help: String) -> RuntimeError {
        RuntimeError::CommandNotFound {
            command: command.to_owned(),
            reason: format!("{reason} (module folder: `{}`)", self.path.value.shown()),
            help,
        }
    }

    /// The nearest name, or where to put a module.
    fn help(&self, command: &str) -> String {
        let names = self.names();
        match nearest(command, names.iter().map(String::as_str)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!(
                "put the module into the folder, or correct `{}`",
                self.path.key
            ),
        }
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path.value).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned))
            .collect()
    }
}

//! What configuration may know of the process that reads it: its environment
//! variables, home folder and current folder. Captured once and passed around, so
//! that nothing below looks at the process itself and tests never change it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// A snapshot of the process's environment, or one that was made up.
///
/// ```
/// use prx_host::config::Environment;
///
/// let environment = Environment::new("/srv/agent").with("HOME", "/home/ada");
/// assert_eq!(environment.home(), Some("/home/ada".as_ref()));
/// ```
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    account_home: Option<PathBuf>,
    current_dir: PathBuf,
}

impl Environment {
    /// An environment without variables whose current folder is this one.
    pub fn new(current_dir: impl Into<PathBuf>) -> Self {
        Self {
            variables: BTreeMap::new(),
            account_home: None,
            current_dir: current_dir.into(),
        }
    }

    /// The environment of this process. Fails when the current folder is gone.
    pub fn of_process() -> io::Result<Self> {
        Ok(Self {
            variables: std::env::vars_os().collect(),
            account_home: std::env::home_dir(),
            current_dir: std::env::current_dir()?,
        })
    }

    /// The same environment with one more variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The value of a variable, which may be empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name));
        value.map(OsString::as_os_str)
    }

    /// The value of a variable; an empty one counts as unset, as the XDG Base
    /// Directory Specification asks for.
    pub(super) fn filled_variable(&self, name: &str) -> Option<&OsStr> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// `$HOME`, or else the home folder of the account.
    pub fn home(&self) -> Option<&Path> {
        self.absolute("HOME").or(self.account_home.as_deref())
    }

    /// The folder that relative paths given by a person at a prompt start from.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// One of the folders of the XDG Base Directory Specification, by the name of its
    /// variable, with its standard default. A relative value is ignored, as the
    /// specification demands.
    pub fn xdg(&self, variable: &str) -> Option<PathBuf> {
        let default = match variable {
            "XDG_CONFIG_HOME" => ".config",
            "XDG_DATA_HOME" => ".local/share",
            "XDG_CACHE_HOME" => ".cache",
            "XDG_STATE_HOME" => ".local/state",
            _ => return self.absolute(variable).map(Path::to_owned),
        };
        match self.absolute(variable) {
            Some(folder) => Some(folder.to_owned()),
            None => Some(self.home()?.join(default)),
        }
    }

    fn absolute(&self, variable: &str) -> Option<&Path> {
        self.filled_variable(variable)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }
}

/// Values may be secrets: only the names are printed.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("current_dir", &self.current_dir)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdg_folders_have_their_standard_defaults() {
        let environment = Environment::new("/").with("HOME", "/home/ada");
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "/home/ada/.config"),
            ("XDG_DATA_HOME", "/home/ada/.local/share"),
            ("XDG_CACHE_HOME", "/home/ada/.cache"),
            ("XDG_STATE_HOME", "/home/ada/.local/state"),
        ] {
            assert_eq!(environment.xdg(variable), Some(folder.into()));
        }
        assert_eq!(environment.xdg("XDG_RUNTIME_DIR"), None);
    }

    #[test]
    fn empty_and_relative_xdg_values_count_as_unset() {
        for value in ["", "share", "./share"] {
            let environment = Environment::new("/")
                .with("HOME", "/home/ada")
                .with("XDG_DATA_HOME", value);
            let folder = environment.xdg("XDG_DATA_HOME");
            assert_eq!(folder, Some("/home/ada/.local/share".into()));
        }
    }

    #[test]
    fn values_are_never_printed() {
        let environment = Environment::new("/").with("API_TOKEN", "hunter2");
        let printed = format!("{environment:?}");
        assert!(printed.contains("API_TOKEN") && !printed.contains("hunter2"));
    }
}

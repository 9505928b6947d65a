//! Why a module was not installed or removed.

use std::io;
use std::path::PathBuf;

use crate::config::ToolEntry;
use crate::model::Shown as _;
use crate::{Inspection, ModuleFault, OpenError};

/// Why a module was not installed. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// Its tools could not be called by that name.
    #[error("`{name}` can not be a tool's name: only 1 to 64 letters, digits, `_` and `-`")]
    Name {
        /// The name, made harmless.
        name: String,
        /// One that would do.
        near: Option<String>,
    },
    /// This host can not run it.
    #[error("`{}` can not serve", .inspection.path.shown())]
    NotRunnable {
        /// What it is.
        inspection: Box<Inspection>,
        /// Why it can not serve.
        fault: ModuleFault,
    },
    /// Its tools could not be called, as the configuration and its name are.
    #[error("the module could not be called: {reason}")]
    NotCallable {
        /// Why.
        reason: String,
    },
    /// Something else has the name already.
    #[error("the name `{name}` is taken by {by}")]
    Taken {
        /// The name of a tool, an entry or a module.
        name: String,
        /// What has it.
        by: String,
        /// Whether another name for the module would help.
        rename: bool,
    },
    /// The file is another one than was examined.
    #[error("`{}` changed while it was looked at", .0.shown())]
    Changed(PathBuf),
    /// There is another module, and nobody said that it may be replaced.
    #[error("`{}` is there already, with other content", .0.shown())]
    Present(PathBuf),
    /// A folder or file can not be read or written.
    #[error("{what} `{}`: {error}", .path.shown())]
    Io {
        /// What failed.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The host can not start.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl InstallError {
    /// What to do about it, where there is something to do.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Name {
                near: Some(near), ..
            } => format!("choose one, for instance `--name {near}`"),
            Self::Name { near: None, .. } => "choose one with `--name`".into(),
            Self::NotRunnable { fault, .. } => return fault.help().map(str::to_owned),
            Self::NotCallable { .. } | Self::Taken { rename: true, .. } => {
                "choose another name with `--name`".into()
            }
            Self::Taken { .. } => {
                "remove what has the name, or give its entry another one, first".into()
            }
            Self::Changed(_) => "try again when nobody writes it any more".into(),
            Self::Present(_) => "write `--replace` to put this one in its place".into(),
            Self::Io { error, .. } => return of_system(error).map(str::to_owned),
            Self::Open(_) => return None,
        })
    }
}

/// Why a module was not removed. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// Nobody knows that name.
    #[error("there is no tool, entry or module `{}`", .name.shown())]
    Unknown {
        /// The name.
        name: String,
    },
    /// It is no module, but a command that the configuration describes.
    #[error("`{name}` is no module: it is a command of the configuration")]
    Command {
        /// The entry.
        name: String,
        /// Where it stands: `file:line`.
        place: String,
    },
    /// It is the built-in shell.
    #[error("`{name}` is no module: it is the built-in tool of `[tools.shell]`")]
    Shell {
        /// Its name.
        name: String,
    },
    /// The module is not in the module folder.
    #[error("the module `{}` lies outside of the module folder", .path.shown())]
    Outside {
        /// The file.
        path: PathBuf,
        /// The entry that names it, and where that stands: `file:line`.
        entry: Option<(String, String)>,
    },
    /// There is no file to remove.
    #[error("there is no file `{}`", .path.shown())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is none of the files that are modules.
    #[error("`{}` is no file", .path.shown())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The folder refuses.
    #[error("{what} `{}`: {error}", .path.shown())]
    Io {
        /// What failed.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl RemoveError {
    pub(super) fn of_command(tool: &ToolEntry) -> Self {
        Self::Command {
            name: tool.name.clone(),
            place: tool.place.to_string(),
        }
    }

    /// What to do about it, where there is something to do.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { .. } => "`prx-host list` shows what there is".into(),
            Self::Command { name, place } => format!(
                "write `enabled = false` under `[tools.custom.{name}]` ({place}), or remove the table"
            ),
            Self::Shell { .. } => "write `enabled = false` under `[tools.shell]`".into(),
            Self::Outside {
                entry: Some((entry, place)),
                ..
            } => format!(
                "write `enabled = false` under `[tools.custom.{entry}]` ({place}), or remove the file yourself"
            ),
            Self::Outside { entry: None, .. } => "remove the file yourself".into(),
            Self::Missing { .. } => {
                "correct `module` of the entry that names it, or remove the entry".into()
            }
            Self::NoFile { .. } => return None,
            Self::Io { error, .. } => return of_system(error).map(str::to_owned),
        })
    }
}

/// What helps when the system refuses.
fn of_system(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind::{
        FileTooLarge, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    Some(match error.kind() {
        PermissionDenied | ReadOnlyFilesystem => {
            "make the folder writable, or correct `runtime.wasm.module_path`"
        }
        StorageFull | QuotaExceeded | FileTooLarge => "make room there",
        NotADirectory => "correct `runtime.wasm.module_path`",
        _ => return None,
    })
}

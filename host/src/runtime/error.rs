//! Why a command never ran, or a backend broke down below it. Each says what to do.

use std::path::PathBuf;

use crate::model::Shown as _;

/// The result of an adapter's methods.
pub type Result<T, E = RuntimeError> = std::result::Result<T, E>;

/// Why a command did not run to an end of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// There is no such program, or module.
    #[error("`{}` was not found: {reason}", command.shown())]
    CommandNotFound {
        /// As it was asked for.
        command: String,
        /// Where it was looked for.
        reason: String,
        /// What to do about it.
        help: String,
    },
    /// The program is there and must not, or can not, be run.
    #[error("`{}` can not be run: {reason}", command.shown())]
    NotExecutable {
        /// As it was asked for.
        command: String,
        /// What the system, or the engine, says.
        reason: String,
        /// What to do about it, where it is not about programs of the system.
        help: Option<String>,
    },
    /// The working folder can not be used.
    #[error("the working folder `{}` can not be used: {reason}", path.shown())]
    WorkingDirectory {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A granted folder can not be used.
    #[error("the folder `{}` can not be used: {reason}", path.shown())]
    Folder {
        /// The folder, on this machine.
        path: PathBuf,
        /// Why not.
        reason: String,
        /// The key that granted it, with file and line.
        granted_by: String,
    },
    /// A command, an argument or a variable can not be handed to a program.
    #[error("{what} can not be handed to a program: {reason}")]
    InvalidInput {
        /// For instance "argument 2" or "the variable `A=B`".
        what: String,
        /// Why not.
        reason: String,
    },
    /// The sandbox does not work. The command was not run without it.
    #[error("the sandbox `{sandbox}` does not work here: {reason}")]
    Sandbox {
        /// Its name in `security.sandbox.backend`.
        sandbox: &'static str,
        /// Why not.
        reason: String,
        /// What to do about it.
        help: String,
    },
    /// A container's image can not be had.
    #[error("the image `{image}` can not be used: {reason}")]
    Image {
        /// Its name.
        image: String,
        /// Why not.
        reason: String,
        /// What to do about it.
        help: String,
    },
    /// The backend can not be used at all.
    #[error("the backend `{backend}` can not be used: {reason}")]
    Unavailable {
        /// Its name.
        backend: String,
        /// Why not.
        reason: String,
        /// What to do about it.
        help: String,
    },
    /// The backend went away or failed while the command ran; its end is not known.
    #[error("the backend `{backend}` failed while the command ran: {reason}")]
    Interrupted {
        /// Its name.
        backend: String,
        /// What it said.
        reason: String,
    },
    /// The backend can not do this.
    #[error("the backend `{backend}` does not carry {what}")]
    Unsupported {
        /// Its name.
        backend: String,
        /// What was asked for.
        what: &'static str,
    },
}

impl RuntimeError {
    /// What to do about it, where there is more to say than the error itself does.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::CommandNotFound { help, .. }
            | Self::Sandbox { help, .. }
            | Self::Image { help, .. }
            | Self::Unavailable { help, .. }
            | Self::NotExecutable {
                help: Some(help), ..
            } => Some(help.clone()),
            Self::Folder { granted_by, .. } => {
                Some(format!("name a folder that exists and may be shared in {granted_by}"))
            }
            Self::NotExecutable { help: None, .. } => Some(
                "name a program, not a folder or a text; a program needs the permission to run (`chmod +x`)"
                    .into(),
            ),
            Self::WorkingDirectory { .. } => Some(
                "correct `working_dir` of the tool, or `runtime.workspace`; it must exist and lie within what is granted"
                    .into(),
            ),
            Self::InvalidInput { .. } => Some("leave it out, or write it in another way".into()),
            Self::Interrupted { .. } => Some(
                "whether the command did its work is not known; look, and then call it again".into(),
            ),
            Self::Unsupported { .. } => None,
        }
    }
}

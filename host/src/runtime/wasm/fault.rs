//! Why a module does not serve: one line that says what the file is, and what to do.

use crate::model::format_bytes;

/// Why a module can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleFault {
    /// There is no file.
    #[error("the file can not be read: it does not exist")]
    Missing,
    /// The file can not be read.
    #[error("the file can not be read: {0}")]
    Unreadable(String),
    /// It is no file that has bytes of its own to read.
    #[error("it is {0}, no regular file")]
    NoFile(&'static str),
    /// It is a link to nothing.
    #[error("it is a link that leads nowhere: `{0}` does not exist")]
    DeadLink(String),
    /// It is a link to itself, by whatever way.
    #[error("it is a link that leads in a circle")]
    LinkCircle,
    /// It lies elsewhere, and only the operator may say so.
    #[error("{0} leads out of the module folder, and what is named there must lie in it")]
    LeadsOut(String),
    /// Somebody has the file open and writes it.
    #[error("the file is still being written")]
    BeingWritten,
    /// It is being compiled, which may take minutes.
    #[error("the module is being compiled")]
    Loading,
    /// The file is larger than any module should be.
    #[error("the file has {}, more than the {} that a module may have", format_bytes(*size), format_bytes(*limit))]
    TooLarge {
        /// Bytes of the file.
        size: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The file is something else.
    #[error("the file is {0}, not a WebAssembly module")]
    NotAModule(String),
    /// The file begins as a module and ends too early.
    #[error("the file ends in the middle of a module: it is still being written, or was cut")]
    Truncated,
    /// The bytes are no valid module.
    #[error("the module is not valid: {0}")]
    Invalid(String),
    /// A valid module of no kind that this host runs.
    #[error("this is {what}, neither a skill nor a command: {why}")]
    OtherKind {
        /// What it is.
        what: String,
        /// What is missing to make it one of them.
        why: String,
    },
    /// A command where a skill is needed, or a skill where a command is.
    #[error("this is a {is}, and no {wanted}")]
    WrongUse {
        /// What it is.
        is: &'static str,
        /// What was needed.
        wanted: &'static str,
    },
    /// A skill for another version of the interface.
    #[error("the module exports `{interface}` in version {asked}; this host serves {served}")]
    UnknownVersion {
        /// The interface.
        interface: String,
        /// The module's version.
        asked: String,
        /// The host's version.
        served: String,
    },
    /// The module imports what the host does not have.
    #[error("the module imports what this host does not offer: {}", .0.join("; "))]
    MissingImports(Vec<String>),
    /// The compiler or linker refused it.
    #[error("the module can not be compiled: {0}")]
    NotCompiled(String),
    /// `describe` broke down or took too long.
    #[error("asking the module for its tools failed: {0}")]
    NotDescribed(String),
    /// What the module says about its tools is not acceptable.
    #[error("what the module says about its tools can not be used: {}", .0.join("; "))]
    BadDescription(Vec<String>),
    /// The file changed after it was loaded.
    #[error("the file changed since it was loaded")]
    Changed,
}

impl ModuleFault {
    /// Whether there is no file, be it at the end of a link: it may be away for a moment.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Missing | Self::DeadLink(_))
    }

    /// Whether the same file may serve later, though nothing in it changes.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Missing
                | Self::Unreadable(_)
                | Self::NoFile(_)
                | Self::DeadLink(_)
                | Self::LinkCircle
                | Self::LeadsOut(_)
                | Self::BeingWritten
                | Self::Loading
                | Self::Changed
        )
    }

    /// What to do about it, where there is something to do.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing => "put the module there, or correct the path",
            Self::Unreadable(_) => "check the file's owner and permissions",
            Self::NoFile(_) => "put the module's `.wasm` file in its place, or correct the path",
            Self::DeadLink(_) | Self::LinkCircle => {
                "put the module where the link leads, or correct the link"
            }
            Self::LeadsOut(_) => {
                "copy the file into the folder, or name it by its absolute path: with `module` of an entry in the configuration, or as the command"
            }
            Self::BeingWritten => {
                "wait until it is complete, or copy to another name first and rename"
            }
            Self::Loading => "try again in a moment",
            Self::TooLarge { .. } => "build it in release mode and strip it",
            Self::NotAModule(_) => "put a built `.wasm` file in its place, or rename it",
            Self::Truncated => "copy it to another name first and rename it when complete",
            Self::Invalid(_) => "build it again",
            Self::OtherKind { .. } => {
                "build a skill (a component that exports `prx:skill/tools`) or a command (a program with `main`), target wasm32-wasip2"
            }
            Self::UnknownVersion { .. } => {
                "build it against the served version of `prx:skill`, or update prx-host"
            }
            Self::MissingImports(_) => {
                "build it without these imports, or compose it with a component that offers them"
            }
            Self::WrongUse { is: "skill", .. } => {
                "call its tools by their names; `prx-host list` shows them"
            }
            Self::WrongUse { .. } => "run it as a command",
            Self::NotCompiled(_) => return None,
            Self::NotDescribed(_) | Self::BadDescription(_) => "its author must mend `describe`",
            Self::Changed => "it is loaded again at the next reload or start",
        })
    }
}

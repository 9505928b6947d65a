//! A tool entry: one module or command under one name, with its grants and limits.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::command::{CommandTemplate, Parameters};
use crate::config::{Backend, Place, Setting, ToolEntry};
use crate::model::{Capability, FolderGrant, Grants};
use crate::runtime::RuntimeAdapter;
#[cfg(feature = "wasm-runtime")]
use crate::runtime::wasm::{access::Access, module::Module};

/// One entry, loaded.
pub struct Entry {
    /// The name in `[tools.custom.<name>]`, or the module's file stem.
    pub(super) name: String,
    pub(super) place: Option<Place>,
    pub(super) backend: Backend,
    pub(super) grants: Grants,
    pub(super) limits: EntryLimits,
    pub(super) runner: Runner,
    pub(super) started: Started,
    /// What the configuration says of it.
    pub(super) written: Option<Box<ToolEntry>>,
}

/// When something began to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Started {
    /// By the system's clock.
    #[serde(serialize_with = "crate::model::as_rfc3339")]
    pub at: SystemTime,
    /// The number of the first snapshot that had it.
    pub snapshot: u64,
}

/// What answers the calls of an entry.
pub(crate) enum Runner {
    /// A skill.
    #[cfg(feature = "wasm-runtime")]
    Skill(Skill),
    /// A command.
    Command(Box<CommandTool>),
}

/// A module that is a skill.
#[cfg(feature = "wasm-runtime")]
pub(crate) struct Skill {
    pub module: Arc<Module>,
    /// Its grants, ready for a call.
    pub access: Access,
}

/// A tool that is made of a command.
pub(crate) struct CommandTool {
    /// What runs, with places for the arguments of a call.
    pub template: CommandTemplate,
    /// What it takes.
    pub parameters: Parameters,
    /// Runs it.
    pub adapter: Arc<dyn RuntimeAdapter>,
    /// Variables that only this tool gets.
    pub env: HashMap<String, String>,
    /// The folder it works in; `None` is the workspace.
    pub working_dir: Option<PathBuf>,
    /// Bytes of memory, where the entry itself says so.
    pub max_memory: Option<u64>,
    /// The module, where the command is one.
    #[cfg(feature = "wasm-runtime")]
    pub module: Option<Arc<Module>>,
}

impl CommandTool {
    /// Whether the command is a module.
    pub fn is_module(&self) -> bool {
        #[cfg(feature = "wasm-runtime")]
        return self.module.is_some();
        #[cfg(not(feature = "wasm-runtime"))]
        false
    }
}

/// What one call of an entry may use, each with the key that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLimits {
    /// Wall clock.
    pub timeout: Setting<Duration>,
    /// Bytes of memory.
    pub max_memory: Setting<u64>,
    /// Bytes of each output stream, and of the answer.
    pub max_output: Setting<u64>,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the configuration speaks of it, if it does.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// What runs it.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// What it may touch. Commands of other backends than `wasm` have their rules in
    /// `[security]` and `[runtime.docker]`, and no grants of their own.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What a call may use.
    pub fn limits(&self) -> &EntryLimits {
        &self.limits
    }

    /// Its module, if it has one.
    #[cfg(feature = "wasm-runtime")]
    pub fn module(&self) -> Option<&Arc<Module>> {
        match &self.runner {
            Runner::Skill(skill) => Some(&skill.module),
            Runner::Command(command) => command.module.as_ref(),
        }
    }

    /// Since when this version serves: the module as it is, or the command as it is
    /// configured.
    pub fn started(&self) -> Started {
        self.started
    }

    /// Whether a caller could not tell the two apart: the same module or command, with the
    /// same grants and limits. Where the configuration says so does not matter.
    pub(crate) fn means_the_same(&self, other: &Self) -> bool {
        let written = |entry: &Self| {
            let written = entry.written.as_deref()?.clone();
            // A line that moved changes nothing.
            Some(ToolEntry {
                place: Place::default(),
                ..written
            })
        };
        self.backend == other.backend
            && self.version() == other.version()
            && self.grants == other.grants
            && self.limits == other.limits
            && written(self) == written(other)
    }

    /// SHA-256 of its module, in hexadecimal; `None` where it has none.
    pub fn version(&self) -> Option<String> {
        #[cfg(feature = "wasm-runtime")]
        return self.module().map(|module| module.digest_hex());
        #[cfg(not(feature = "wasm-runtime"))]
        None
    }

    /// Whether the answer of a call is what its command prints.
    pub fn is_command(&self) -> bool {
        self.command().is_some()
    }

    /// The command, if it is one.
    pub(crate) fn command(&self) -> Option<&CommandTool> {
        match &self.runner {
            #[cfg(feature = "wasm-runtime")]
            Runner::Skill(_) => None,
            Runner::Command(command) => Some(command),
        }
    }

    /// What answers its calls.
    pub(crate) fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The line of configuration that would grant it a thing, as a sentence.
    pub fn how_to_grant(&self, capability: &Capability) -> String {
        let line = match capability {
            Capability::ReadFolder(path) => format!(r#"filesystem_read = ["<folder>::{path}"]"#),
            Capability::WriteFolder(path) => format!(r#"filesystem_write = ["<folder>::{path}"]"#),
            Capability::Variable(name) => {
                format!(r#"env_vars = ["{name}"] (and list it in `runtime.env_whitelist`)"#)
            }
            Capability::Network(host) if host == "*" => "network = true".into(),
            Capability::Network(host) => format!(r#"network = true, allowed_hosts = ["{host}"]"#),
            Capability::State => "max_state_kb = 64".into(),
        };
        format!(
            "to grant it, write {line} under `[tools.custom.{}.capabilities]`",
            self.name
        )
    }

    /// The granted folders that are not there at this moment.
    pub fn missing_folders(&self) -> impl Iterator<Item = &FolderGrant> {
        self.grants
            .folders
            .iter()
            .filter(|grant| !grant.host.is_dir())
    }
}

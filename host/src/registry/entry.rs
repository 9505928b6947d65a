//! A tool entry: one module or command under one name, with its grants and limits.

#[cfg(feature = "wasm-runtime")]
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Backend, Place, Setting};
use crate::model::{Capability, FolderGrant, Grants};
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
    #[cfg(feature = "wasm-runtime")]
    pub(super) module: Arc<Module>,
    #[cfg(feature = "wasm-runtime")]
    pub(super) access: Access,
}

/// What one call of an entry may use, each with the key that set it.
#[derive(Clone, Debug)]
pub struct EntryLimits {
    /// Wall clock.
    pub timeout: Setting<Duration>,
    /// Bytes of linear memory.
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

    /// What it may touch.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What a call may use.
    pub fn limits(&self) -> &EntryLimits {
        &self.limits
    }

    /// Its module.
    #[cfg(feature = "wasm-runtime")]
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Its grants, ready for a call.
    #[cfg(feature = "wasm-runtime")]
    pub(crate) fn access(&self) -> &Access {
        &self.access
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

//! What a sandboxed command may see of the file system: one list for every sandbox.
//!
//! * Each of `readonly_paths` that exists may be read and run from.
//! * Each of `writable_paths`, which must exist, may also be written; `/tmp` among them
//!   means a `/tmp` of the command's own where the sandbox can give it one (bubblewrap,
//!   firejail), and else (landlock) the one of the machine.
//! * The workspace may be written.
//! * A path inside another wins over it, so a read-only folder in a writable one is
//!   read-only where the sandbox mounts (landlock only ever adds rights).
//!
//! Never `/`: it holds the secrets of everyone.

use std::path::{Path, PathBuf};

use crate::config::{Config, Setting};
use crate::runtime::{Result, RuntimeError};

const TMP: &str = "/tmp";

/// One granted path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::runtime::native) struct Granted {
    /// As it was written.
    pub(in crate::runtime::native) path: PathBuf,
    /// Without links.
    pub(in crate::runtime::native) real: PathBuf,
    pub(in crate::runtime::native) writable: bool,
}

/// All granted paths, outer before inner.
#[derive(Clone, Debug)]
pub(in crate::runtime::native) struct Paths {
    pub(in crate::runtime::native) granted: Vec<Granted>,
    /// `/tmp` is among the writable paths.
    pub(in crate::runtime::native) tmp: bool,
}

impl Paths {
    pub(in crate::runtime::native) fn of(config: &Config) -> Result<Self> {
        let sandbox = &config.sandbox;
        let mut granted = Vec::new();
        for path in &sandbox.readonly_paths.value {
            // Not every machine has `/lib64`.
            if let Ok(real) = path.canonicalize() {
                granted.push(grant(path, real, false, &sandbox.readonly_paths)?);
            }
        }
        let writable = &sandbox.writable_paths;
        for path in writable.value.iter().filter(|path| *path != Path::new(TMP)) {
            let real = path.canonicalize().map_err(|error| RuntimeError::Folder {
                path: path.clone(),
                reason: error.to_string(),
                granted_by: writable.origin(),
            })?;
            granted.push(grant(path, real, true, writable)?);
        }
        let workspace = &config.runtime.workspace;
        // One that does not exist yet is an error of the call that needs it.
        let real = workspace.value.canonicalize();
        let real = real.unwrap_or_else(|_| workspace.value.clone());
        granted.push(grant(&workspace.value, real, true, workspace)?);
        granted.sort_by_key(|grant| (grant.real.components().count(), grant.writable));
        granted.dedup_by(|later, earlier| {
            let same = later.real == earlier.real && later.path == earlier.path;
            earlier.writable |= same && later.writable;
            same
        });
        Ok(Self {
            granted,
            tmp: writable.value.iter().any(|path| path == Path::new(TMP)),
        })
    }

    /// Without those that grant no more than the one around them, which a sandbox that mounts
    /// need not mount again.
    pub(in crate::runtime::native) fn mounts(&self) -> impl Iterator<Item = &Granted> {
        self.granted.iter().enumerate().filter_map(|(index, grant)| {
            let outer = self.granted[..index].iter().rev();
            let around = outer
                .filter(|outer| grant.real.starts_with(&outer.real))
                .max_by_key(|outer| outer.real.components().count());
            let is_new = around.is_none_or(|outer| outer.writable != grant.writable);
            is_new.then_some(grant)
        })
    }

    /// Whether a real path is inside a granted one.
    pub(in crate::runtime::native) fn show(&self, real: &Path) -> bool {
        let mut granted = self.granted.iter();
        granted.any(|grant| real.starts_with(&grant.real))
    }
}

fn grant<T>(path: &Path, real: PathBuf, writable: bool, setting: &Setting<T>) -> Result<Granted> {
    if real == Path::new("/") {
        return Err(RuntimeError::Folder {
            path: path.to_owned(),
            reason: "a sandbox never shows the whole machine: name the folders that are needed"
                .to_owned(),
            granted_by: setting.origin(),
        });
    }
    Ok(Granted {
        path: path.to_owned(),
        real,
        writable,
    })
}

//! What a sandboxed command may see of the file system: one list for every sandbox.
//!
//! * Each of `readonly_paths` that exists may be read and run from.
//! * Each of `writable_paths`, which must exist, may also be written; `/tmp` among them
//!   means a `/tmp` of the command's own where the sandbox can give it one (bubblewrap,
//!   firejail), and else (landlock) the one of the machine.
//! * The workspace may be written.
//! * A path inside another wins over it, so a read-only folder in a writable one is
//!   read-only where the sandbox mounts (landlock only ever adds rights).
//! * The configuration file and the folder of modules decide what the host does when it
//!   starts again. Inside a writable path they are read-only where the sandbox mounts, and
//!   the folders between can not be renamed (but with firejail), unless they are a writable
//!   path themselves. What stays open is said, see [`super::Sandbox::dangers`].
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
    /// It is mounted by itself even where it grants no more than the one around it: what is
    /// mounted can not be renamed.
    pub(in crate::runtime::native) pinned: bool,
}

/// All granted paths, outer before inner.
#[derive(Clone, Debug)]
pub(in crate::runtime::native) struct Paths {
    pub(in crate::runtime::native) granted: Vec<Granted>,
    /// `/tmp` is among the writable paths.
    pub(in crate::runtime::native) tmp: bool,
    /// What of the host's own lies in a writable path, and is read-only in it.
    pub(in crate::runtime::native) guarded: Vec<PathBuf>,
    /// The same that no mount can make read-only.
    pub(in crate::runtime::native) exposed: Vec<PathBuf>,
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
        let mut paths = Self {
            granted,
            tmp: writable.value.iter().any(|path| path == Path::new(TMP)),
            guarded: Vec::new(),
            exposed: Vec::new(),
        };
        paths.arrange();
        let modules = &config.runtime.wasm.module_path.value;
        for own in config.file.iter().chain([modules]) {
            paths.guard(own);
        }
        paths.arrange();
        Ok(paths)
    }

    fn arrange(&mut self) {
        let depth = |grant: &Granted| grant.real.components().count();
        let granted = &mut self.granted;
        granted.sort_by_key(|grant| (depth(grant), grant.writable));
        granted.dedup_by(|later, earlier| {
            let same = later.real == earlier.real && later.path == earlier.path;
            earlier.writable |= same && later.writable;
            earlier.pinned |= same && later.pinned;
            same
        });
    }

    /// Makes something of the host's own read-only in a writable path.
    fn guard(&mut self, own: &Path) {
        // What does not exist can not be mounted.
        let (Ok(real), Some(folder)) = (own.canonicalize(), own.parent()) else {
            return;
        };
        // A link that is replaced leads elsewhere, whatever is mounted where it led.
        let link = folder.canonicalize().unwrap_or_default();
        let link = link.join(own.file_name().unwrap_or_default());
        if link != real && self.is_writable(&link) {
            self.exposed.push(link);
        }
        if !self.is_writable(&real) {
            return;
        }
        if self.granted.iter().any(|grant| grant.real == real) {
            self.exposed.push(real);
            return;
        }
        let outermost = self.granted.iter().find(|grant| {
            // They are in order.
            grant.writable && real.starts_with(&grant.real)
        });
        let outermost = outermost.map_or(0, |grant| grant.real.components().count());
        let between: Vec<PathBuf> = real
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.components().count() > outermost)
            .filter(|folder| self.is_writable(folder))
            .map(Path::to_owned)
            .collect();
        let pin = |real: PathBuf, writable| Granted {
            path: real.clone(),
            real,
            writable,
            pinned: true,
        };
        let pins = between.into_iter().map(|folder| pin(folder, true));
        self.granted.extend(pins);
        self.granted.push(pin(real.clone(), false));
        self.guarded.push(real);
        self.arrange();
    }

    fn is_writable(&self, real: &Path) -> bool {
        let around = self.granted.iter().rev();
        let mut around = around.filter(|grant| real.starts_with(&grant.real));
        around.next().is_some_and(|grant| grant.writable)
    }

    /// Without those that grant no more than the one around them, which a sandbox that mounts
    /// need not mount again.
    pub(in crate::runtime::native) fn mounts(&self) -> impl Iterator<Item = &Granted> {
        self.granted
            .iter()
            .enumerate()
            .filter_map(|(index, grant)| {
                let outer = self.granted[..index].iter().rev();
                let around = outer
                    .filter(|outer| grant.real.starts_with(&outer.real))
                    .max_by_key(|outer| outer.real.components().count());
                let is_new =
                    grant.pinned || around.is_none_or(|outer| outer.writable != grant.writable);
                is_new.then_some(grant)
            })
    }

    /// The file that says how names are looked up, when `/etc` only has a link to it.
    pub(in crate::runtime::native) fn resolver(&self) -> Option<PathBuf> {
        let link = Path::new("/etc/resolv.conf");
        let real = link.canonicalize().ok()?;
        (self.show(link) && !self.show(&real)).then_some(real)
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
        pinned: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_grants_something_else_than_its_surroundings_is_mounted() {
        let granted = [
            ("/usr", false),
            ("/project", true),
            ("/usr/bin", false),
            ("/project/fixed", false),
            ("/usr/bin/own", true),
            ("/project/fixed/deep", false),
            ("/usr/bin/own/deep", true),
            ("/usr/bin/own/deep/fixed", false),
        ];
        let paths = Paths {
            granted: granted
                .map(|(path, writable)| Granted {
                    path: path.into(),
                    real: path.into(),
                    writable,
                    pinned: false,
                })
                .into(),
            tmp: false,
            guarded: Vec::new(),
            exposed: Vec::new(),
        };
        let mounts: Vec<_> = paths.mounts().map(|grant| grant.real.clone()).collect();
        let expected = [
            "/usr",
            "/project",
            "/project/fixed",
            "/usr/bin/own",
            "/usr/bin/own/deep/fixed",
        ];
        assert_eq!(mounts, expected.map(PathBuf::from));
    }
}

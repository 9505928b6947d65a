//! A module that may be installed: examined, compared with what is there, and put into
//! its place.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};

use super::folder;
use super::name::ModuleName;
use super::preview::{self, Served};
use super::temporary::Temporary;
use super::{InstallError, claims};
use crate::Inspection;
use crate::config::{Config, Environment};
use crate::file_state::{self, Stamp};
use crate::host::inspect_file;
use crate::model::Shown as _;
use crate::registry::Snapshot;
use crate::runtime::wasm::module::hex;

/// What has the name of a module in the module folder already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Present {
    /// Nothing.
    Nothing,
    /// A file with the same content.
    Same,
    /// A file with other content.
    Other {
        /// Its bytes.
        size: u64,
    },
    /// A link. It is replaced itself, whatever it leads to.
    Link {
        /// What it leads to.
        to: PathBuf,
    },
}

/// Whether something that is there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// No.
    Never,
    /// If it is what [`Candidate::present`] says.
    Present,
}

/// A module that this host can run, and the place where it would go.
#[derive(Debug)]
pub struct Candidate {
    name: ModuleName,
    inspection: Inspection,
    content: Vec<u8>,
    folder: PathBuf,
    is_folder_missing: bool,
    present: Present,
    seen: Option<Stamp>,
}

/// Examines a file as a host with this configuration would, for the module folder of it.
/// `name` is what it will be called; by default as the file is, without its ending.
///
/// # Errors
///
/// A name that can not be used or is taken, and a file that can not serve.
pub async fn examine_module(
    config: &Config,
    file: impl Into<PathBuf>,
    name: Option<&str>,
) -> Result<Candidate, InstallError> {
    let file = file.into();
    let name = match name {
        Some(name) => ModuleName::new(name)?,
        None => ModuleName::of_file(&file)?,
    };
    let inspection = inspect_file(config, file).await?;
    if let Some(fault) = inspection.fault.clone() {
        let inspection = Box::new(inspection);
        return Err(InstallError::NotRunnable { inspection, fault });
    }
    let content = read(&inspection)?;
    let path = config.runtime.wasm.module_path.value.clone();
    let folder = folder::open(&path).map_err(|error| unreadable(&path, error))?;
    let mut candidate = Candidate {
        name,
        inspection,
        content,
        folder: path,
        is_folder_missing: folder.is_none(),
        present: Present::Nothing,
        seen: None,
    };
    if let Some(folder) = folder {
        candidate.look_at(&folder)?;
    }
    Ok(candidate)
}

/// Reads the file once more, and takes nothing but what was inspected.
fn read(inspection: &Inspection) -> Result<Vec<u8>, InstallError> {
    let path = &inspection.path;
    let failed = |error| InstallError::Io {
        what: "can not read",
        path: path.clone(),
        error,
    };
    let file = file_state::open(path).map_err(failed)?;
    let mut content = Vec::new();
    file.take(inspection.size + 1)
        .read_to_end(&mut content)
        .map_err(failed)?;
    let digest: [u8; 32] = Sha256::digest(&content).into();
    if hex(&digest) == inspection.digest {
        Ok(content)
    } else {
        Err(InstallError::Changed(path.clone()))
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> InstallError {
    InstallError::Io {
        what: "can not open the module folder",
        path: path.to_owned(),
        error,
    }
}

impl Candidate {
    fn look_at(&mut self, folder: &Dir) -> Result<(), InstallError> {
        claims::check_folder(folder, &self.folder, &self.name)?;
        let name = self.name.file_name();
        let destination = self.destination();
        let failed = |error| InstallError::Io {
            what: "can not look at",
            path: destination.clone(),
            error,
        };
        self.seen = folder::stamp(folder, &name).map_err(failed)?;
        let Some(found) = folder::metadata(folder, Path::new(&name)).map_err(failed)? else {
            return Ok(());
        };
        let digest = Sha256::digest(&self.content).into();
        self.present = if folder::has_content(folder, &name, self.inspection.size, &digest) {
            Present::Same
        } else if found.is_symlink() {
            let to = folder.read_link_contents(&name).map_err(failed)?;
            Present::Link { to }
        } else if found.is_file() {
            Present::Other { size: found.len() }
        } else {
            return Err(InstallError::Taken {
                name: self.name.to_string(),
                by: format!("`{}`, which is no file", destination.shown()),
                rename: true,
            });
        };
        Ok(())
    }

    /// What it will be called.
    pub fn name(&self) -> &ModuleName {
        &self.name
    }

    /// What it is.
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Where it will lie.
    pub fn destination(&self) -> PathBuf {
        self.folder.join(self.name.file_name())
    }

    /// Whether the module folder will have to be made.
    pub fn is_folder_missing(&self) -> bool {
        self.is_folder_missing
    }

    /// What lies there now.
    pub fn present(&self) -> &Present {
        &self.present
    }

    /// How it will be served: as a host would, which is shown nothing but this module.
    ///
    /// # Errors
    ///
    /// When it could not be called under this name at all.
    pub async fn served(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Vec<Served>, InstallError> {
        // On the heap: a configuration on the stack of each caller is large.
        let preview = preview::preview(config, environment, &self.name, &self.content);
        let served = Box::pin(preview).await?;
        // What the configuration says of it is for its author to mend; a name is not.
        let unnamed = served.iter().filter(|one| one.place.is_none());
        match unnamed.flat_map(|one| &one.broken).next() {
            Some(broken) => Err(InstallError::NotCallable {
                reason: broken.reason.clone(),
            }),
            None => Ok(served),
        }
    }

    /// Refuses it if something else in `snapshot`, the tools of now, has a name that it
    /// would have.
    ///
    /// # Errors
    ///
    /// [`InstallError::Taken`]
    pub fn check_claims(
        &self,
        config: &Config,
        served: &[Served],
        snapshot: &Snapshot,
    ) -> Result<(), InstallError> {
        claims::check(config, &self.destination(), served, snapshot)
    }

    /// Puts it into the module folder, which is made (for this user alone) if it is
    /// missing. Blocks. At any moment, and after a crash too, the name has nothing, or
    /// what it had before, or the whole module.
    ///
    /// # Errors
    ///
    /// When something has the name that is not to be replaced, or that is not what was
    /// seen; and when the folder refuses. Nothing is left behind then.
    pub fn install(&self, replace: Replace) -> Result<(), InstallError> {
        let failed = |error| InstallError::Io {
            what: "can not write",
            path: self.destination(),
            error,
        };
        let folder = folder::open_or_make(&self.folder).map_err(|error| InstallError::Io {
            what: "can not make the module folder",
            path: self.folder.clone(),
            error,
        })?;
        claims::check_folder(&folder, &self.folder, &self.name)?;
        let temporary = Temporary::write(&folder, &self.name, &self.content).map_err(failed)?;
        let name = self.name.file_name();
        match (replace, self.seen) {
            (Replace::Present, Some(seen)) => {
                let is_seen = folder::stamp(&folder, &name).map_err(failed)? == Some(seen);
                if !is_seen {
                    return Err(InstallError::Changed(self.destination()));
                }
                temporary.replace(&name).map_err(failed)
            }
            _ => temporary.settle(&name).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => InstallError::Present(self.destination()),
                _ => failed(error),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inspected(path: &Path, content: &[u8]) -> Inspection {
        let digest: [u8; 32] = Sha256::digest(content).into();
        Inspection {
            path: path.to_owned(),
            size: content.len() as u64,
            digest: hex(&digest),
            shape: None,
            descriptor: None,
            fault: None,
            from_cache: false,
        }
    }

    #[test]
    fn only_what_was_inspected_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("module.wasm");
        let inspection = inspected(&path, b"good");
        for (now, is_taken) in [
            ("good", true),
            ("evil", false),
            ("goo", false),
            ("good and more", false),
        ] {
            std::fs::write(&path, now).unwrap();
            match read(&inspection) {
                Ok(content) => assert!(is_taken && content == b"good", "{now}"),
                Err(InstallError::Changed(_)) => assert!(!is_taken, "{now}"),
                Err(other) => panic!("{other}"),
            }
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read(&inspection), Err(InstallError::Io { .. })));
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert!(matches!(read(&inspection), Err(InstallError::Changed(_))));
    }

    #[test]
    fn what_came_in_between_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("modules");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("notes.wasm");
        let candidate = |seen: &[u8]| {
            let mut candidate = Candidate {
                name: ModuleName::new("notes").unwrap(),
                inspection: inspected(Path::new("/source.wasm"), b"new"),
                content: b"new".to_vec(),
                folder: folder.clone(),
                is_folder_missing: false,
                present: Present::Nothing,
                seen: None,
            };
            if !seen.is_empty() {
                std::fs::write(&file, seen).unwrap();
            }
            let opened = folder::open(&folder).unwrap().unwrap();
            candidate.look_at(&opened).unwrap();
            candidate
        };
        let unseen = candidate(b"");
        std::fs::write(&file, "somebody's").unwrap();
        for replace in [Replace::Never, Replace::Present] {
            let refused = unseen.install(replace).unwrap_err();
            assert!(matches!(refused, InstallError::Present(_)), "{refused}");
        }
        let seen = candidate(b"old one");
        assert_eq!(*seen.present(), Present::Other { size: 7 });
        let refused = seen.install(Replace::Never).unwrap_err();
        assert!(matches!(refused, InstallError::Present(_)), "{refused}");
        std::fs::rename(&file, folder.join("kept")).unwrap();
        std::fs::write(&file, "somebody's").unwrap();
        let refused = seen.install(Replace::Present).unwrap_err();
        assert!(matches!(refused, InstallError::Changed(_)), "{refused}");
        assert_eq!(std::fs::read(&file).unwrap(), b"somebody's");
        candidate(b"old two").install(Replace::Present).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(*candidate(b"").present(), Present::Same);
        let count = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(count, 2, "something was left behind");
    }
}

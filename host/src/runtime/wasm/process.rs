//! What one run of a command brings along, on top of what its entry was granted.
//!
//! Invariant: nothing here widens a grant. The working folder lies in a granted one, is
//! reached through it, and may be used as that one may.

use std::collections::HashMap;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::p2::pipe::MemoryInputPipe;

use super::access::MissingFolder;
use super::wasi::permissions;
use crate::model::FolderGrant;

/// Arguments, variables, standard input and working folder of one run.
#[derive(Clone, Copy)]
pub struct Process<'a> {
    /// The name under which the program runs.
    pub name: &'a str,
    /// The arguments after it.
    pub arguments: &'a [String],
    /// Variables on top of those that are granted.
    pub variables: &'a HashMap<String, String>,
    /// Standard input; `None` is one that is at its end already.
    pub stdin: Option<&'a [u8]>,
    /// Where relative paths begin; `None`: they lead nowhere.
    pub folder: Option<&'a WorkingFolder>,
}

/// A folder inside of a granted one.
pub struct WorkingFolder {
    opened: Dir,
    /// What would grant this folder and no more.
    grant: FolderGrant,
}

impl WorkingFolder {
    /// Finds a folder among the granted ones. The error is the reason, in words.
    pub fn find(folder: &Path, grants: &[FolderGrant]) -> Result<Self, String> {
        let real = folder.canonicalize().map_err(|error| error.to_string())?;
        let found = grants
            .iter()
            .filter_map(|grant| Some((grant, inside(&real, grant)?)))
            // The nearest grant, and of two for one folder the one that allows more.
            .max_by_key(|(grant, rest)| {
                (std::cmp::Reverse(rest.components().count()), grant.access)
            });
        let Some((grant, rest)) = found else {
            return Err("no folder that is granted has it inside".into());
        };
        // Through the granted folder, so that a link swapped in meanwhile leads nowhere.
        let opened = Dir::open_ambient_dir(&grant.host, ambient_authority())
            .and_then(|granted| {
                if rest.as_os_str().is_empty() {
                    Ok(granted)
                } else {
                    granted.open_dir(&rest)
                }
            })
            .map_err(|error| error.to_string())?;
        let guest = match rest.to_str() {
            Some("") => grant.guest.clone(),
            Some(rest) => format!("{}/{rest}", grant.guest.trim_end_matches('/')),
            None => return Err("its path is not UTF-8, and a guest's paths are".into()),
        };
        let grant = FolderGrant {
            host: real,
            guest,
            ..grant.clone()
        };
        Ok(Self { opened, grant })
    }
}

/// The way from a granted folder to one inside of it.
fn inside(real: &Path, grant: &FolderGrant) -> Option<PathBuf> {
    let granted = grant.host.canonicalize().ok()?;
    real.strip_prefix(granted).ok().map(Path::to_owned)
}

impl Process<'_> {
    /// Hands everything to the guest's world.
    pub(super) fn enter(&self, wasi: &mut WasiCtxBuilder) -> Result<(), MissingFolder> {
        wasi.arg(self.name).args(self.arguments);
        let mut variables: Vec<_> = self.variables.iter().collect();
        variables.sort_unstable();
        for (name, value) in variables {
            wasi.env(name, value);
        }
        if let Some(stdin) = self.stdin {
            wasi.stdin(MemoryInputPipe::new(Bytes::copy_from_slice(stdin)));
        }
        if let Some(WorkingFolder { opened, grant }) = self.folder {
            wasi.initial_cwd(&grant.guest);
            // WASI 0.1 has no working folder: there, relative paths are those in a
            // folder that is called `.`.
            let handle = format!("/proc/self/fd/{}", opened.as_raw_fd());
            wasi.preopened_dir(handle, ".", permissions(grant.access))
                .map_err(|error| MissingFolder::new(grant, &error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Access as FolderAccess;

    fn grant(host: &Path, guest: &str, access: FolderAccess) -> FolderGrant {
        FolderGrant {
            host: host.to_owned(),
            guest: guest.into(),
            access,
            granted_by: String::new(),
        }
    }

    #[test]
    fn a_working_folder_is_found_in_the_nearest_grant() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let grants = [
            grant(root.path(), "/project", FolderAccess::Write),
            grant(&root.path().join("a"), "/only-a", FolderAccess::Read),
        ];
        let found = |path: &Path| WorkingFolder::find(path, &grants).map(|found| found.grant.guest);
        assert_eq!(found(&inner).as_deref(), Ok("/only-a/b"));
        assert_eq!(found(root.path()).as_deref(), Ok("/project"));
        assert!(found(root.path().parent().unwrap()).is_err());
        assert!(found(&root.path().join("none")).is_err());
    }

    #[test]
    fn a_link_that_leads_out_of_the_grants_is_no_working_folder() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let link = root.path().join("link");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        let grants = [grant(root.path(), "/project", FolderAccess::Write)];
        assert!(WorkingFolder::find(&link, &grants).is_err());
    }
}

//! The workspace as a container sees it: what is mounted, where a call starts, and as
//! whom it runs so that files written there belong to somebody sensible.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::engine::Engine;
use super::guard;
use super::settings::Settings;
use crate::model::Shown as _;
use crate::runtime::{Result, RuntimeError};

/// Runs what needs no folder of anybody: `nobody`.
const NOBODY: u32 = 65534;

/// A file or folder of this machine, without links, and where it appears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub source: String,
    pub target: String,
    pub read_only: bool,
}

/// What a container is given of this machine's folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The workspace first, if it is given at all, then what is mounted over parts of it.
    pub mounts: Vec<Given>,
    /// Where the command starts; `None`: where the image says.
    pub working_dir: Option<String>,
    /// `uid:gid` in the container.
    pub user: String,
}

impl Place {
    /// Looks at the folders as they are now.
    pub fn of(settings: &Settings, engine: &Engine, working_dir: Option<&Path>) -> Result<Self> {
        let Some(mount_path) = &settings.mount_path else {
            return unmounted(working_dir);
        };
        let source = workspace(settings)?;
        let owner = fs::metadata(&source).map_err(|error| missing(settings, &error.to_string()))?;
        let working_dir = match working_dir {
            None => mount_path.clone(),
            Some(path) => inside(path, &source, mount_path)?,
        };
        let user = engine.user((owner.uid(), owner.gid()), process_user());
        let mounts = guard::mounts(&source, mount_path, &settings.guarded)
            .map_err(|reason| folder(settings, &reason))?;
        Ok(Self {
            mounts,
            working_dir: Some(working_dir),
            user,
        })
    }
}

fn unmounted(working_dir: Option<&Path>) -> Result<Place> {
    if let Some(path) = working_dir {
        return Err(RuntimeError::WorkingDirectory {
            path: path.to_owned(),
            reason: "with `runtime.docker.mount_workspace = false` a container sees no folder \
                     of this machine: turn it on, or name no working folder"
                .to_owned(),
        });
    }
    Ok(Place {
        mounts: Vec::new(),
        working_dir: None,
        user: format!("{NOBODY}:{NOBODY}"),
    })
}

/// As whom this process writes files.
fn process_user() -> (u32, u32) {
    (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    )
}

/// The workspace without links. The whole machine is none.
fn workspace(settings: &Settings) -> Result<PathBuf> {
    let at = |error: std::io::Error| missing(settings, &error.to_string());
    let source = fs::canonicalize(&settings.workspace.value).map_err(at)?;
    let found = fs::metadata(&source).map_err(at)?;
    if !found.is_dir() {
        return Err(missing(settings, "it is no folder"));
    }
    // Also under another name: a bind mount of `/` is `/`.
    let root = fs::metadata("/").map_err(at)?;
    if (found.dev(), found.ino()) == (root.dev(), root.ino()) {
        return Err(folder(
            settings,
            "it is `/`, and a container is never given the whole machine",
        ));
    }
    Ok(source)
}

fn missing(settings: &Settings, reason: &str) -> RuntimeError {
    RuntimeError::WorkingDirectory {
        path: settings.workspace.value.clone(),
        reason: format!(
            "{reason}; create it, or correct {}",
            settings.workspace.origin()
        ),
    }
}

fn folder(settings: &Settings, reason: &str) -> RuntimeError {
    RuntimeError::Folder {
        path: settings.workspace.value.clone(),
        reason: reason.to_owned(),
        granted_by: settings.workspace.origin(),
    }
}

/// Where a folder of this machine is in the container.
fn inside(path: &Path, workspace: &Path, mount_path: &str) -> Result<String> {
    let wrong = |reason: String| RuntimeError::WorkingDirectory {
        path: path.to_owned(),
        reason: format!("{reason}; name a folder of the workspace"),
    };
    let found = fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_dir() {
        return Err(wrong("it is no folder".to_owned()));
    }
    let Ok(below) = found.strip_prefix(workspace) else {
        return Err(wrong(format!(
            "it is not in the workspace `{}`, and a container sees nothing else",
            workspace.shown()
        )));
    };
    if below.as_os_str().is_empty() {
        return Ok(mount_path.to_owned());
    }
    let below = text(below).map_err(|reason| wrong(reason.to_owned()))?;
    Ok(format!("{mount_path}/{below}"))
}

pub(super) fn text(path: &Path) -> Result<String, &'static str> {
    path.to_str()
        .map(str::to_owned)
        .ok_or("its name is not UTF-8, and an engine takes no other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_the_workspace_is_below_the_mount() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path");
        fs::create_dir_all(root.join("workspace/a/b")).expect("folders");
        fs::create_dir(root.join("other")).expect("a folder");
        fs::write(root.join("workspace/file"), "").expect("a file");
        std::os::unix::fs::symlink(root.join("other"), root.join("workspace/link"))
            .expect("a link");
        let workspace = root.join("workspace");
        let at = |name: &str| inside(&workspace.join(name), &workspace, "/project");
        assert_eq!(at(".").as_deref(), Ok("/project"));
        assert_eq!(at("a/b").as_deref(), Ok("/project/a/b"));
        assert_eq!(at("a/b/../../a").as_deref(), Ok("/project/a"));
        for (name, reason) in [
            ("..", "not in the workspace"),
            ("link", "not in the workspace"),
            ("file", "no folder"),
            ("missing", "No such file"),
        ] {
            let error = at(name).expect_err("refused").to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}

//! The workspace without what tells the host what to do: the mounts that keep a container
//! from changing the configuration and the modules of the host that started it.
//!
//! Invariant: no name on the way to a guarded file can be taken away in a container. A mount
//! over the file alone would not do: a folder above it could be renamed, and another one,
//! with another file in it, be put in its place. What is mounted can not be renamed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::model::Shown as _;

use super::workspace::{Given, text};

/// Links that are followed, one after the other; the system gives up as early.
const MOST_LINKS: usize = 40;

/// The mounts of a workspace, itself first and every other one after those above it.
pub(super) fn mounts(
    workspace: &Path,
    mount_path: &str,
    guarded: &[PathBuf],
) -> Result<Vec<Given>, String> {
    let given = |path: &Path, read_only| -> Result<Given, String> {
        let below = path.strip_prefix(workspace).unwrap_or(Path::new(""));
        let below = text(below)?;
        let target = match below.as_str() {
            "" => mount_path.to_owned(),
            below => format!("{mount_path}/{below}"),
        };
        Ok(Given {
            source: text(path)?,
            target,
            read_only,
        })
    };
    let mut mounts = vec![given(workspace, false)?];
    for path in guarded {
        if let Some(link) = link_in(workspace, path, MOST_LINKS) {
            return Err(format!(
                "`{}` in it is a link on the way to `{}` of this host, and a container could \
                 replace it: write the path without the link, or move one of both",
                link.shown(),
                path.shown()
            ));
        }
        // What is not there tells the host nothing.
        let Ok(path) = fs::canonicalize(path) else {
            continue;
        };
        if workspace.starts_with(&path) {
            mounts[0].read_only = true;
        }
        let Ok(below) = path.strip_prefix(workspace) else {
            continue;
        };
        let mut at = workspace.to_owned();
        for part in below {
            at.push(part);
            let new = given(&at, at == path)?;
            match mounts.iter_mut().find(|it| it.target == new.target) {
                Some(there) => there.read_only |= new.read_only,
                None => mounts.push(new),
            }
        }
    }
    // A mount over a folder that can only be read would open its own part of it again.
    let closed: Vec<_> = (mounts.iter().filter(|it| it.read_only))
        .map(|it| PathBuf::from(&it.target))
        .collect();
    for mount in &mut mounts {
        let target = Path::new(&mount.target);
        mount.read_only |= closed.iter().any(|above| target.starts_with(above));
    }
    mounts.sort_by_key(|it| Path::new(&it.target).components().count());
    Ok(mounts)
}

/// The first link on the way to a file that is itself in the workspace.
fn link_in(workspace: &Path, path: &Path, most: usize) -> Option<PathBuf> {
    let mut at = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        let folder = at.clone();
        at.push(part);
        let Ok(target) = fs::read_link(&at) else {
            continue;
        };
        let is_inside = fs::canonicalize(&folder).is_ok_and(|it| it.starts_with(workspace));
        if is_inside {
            return Some(at);
        }
        let rest = folder.join(target).join(parts.as_path());
        return most
            .checked_sub(1)
            .and_then(|most| link_in(workspace, &rest, most));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn seen(root: &Path, guarded: &[&str]) -> Result<Vec<(String, bool)>, String> {
        let guarded: Vec<_> = guarded.iter().map(|name| root.join(name)).collect();
        let mounts = mounts(&root.join("workspace"), "/project", &guarded)?;
        let seen = mounts.into_iter().map(|it| (it.target, it.read_only));
        Ok(seen.collect())
    }

    fn root() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("its path");
        fs::create_dir_all(root.join("workspace/a/b/modules")).expect("folders");
        fs::write(root.join("workspace/a/b/config.toml"), "").expect("a file");
        fs::write(root.join("outside.toml"), "").expect("a file");
        (folder, root)
    }

    fn expected(mounts: &[(&str, bool)]) -> Vec<(String, bool)> {
        let owned = mounts.iter().map(|(at, no)| ((*at).into(), *no));
        owned.collect()
    }

    #[test]
    fn what_is_outside_of_the_workspace_or_not_there_needs_no_mount() {
        let (_folder, root) = root();
        let plain = seen(&root, &["outside.toml", "workspace/missing"]);
        assert_eq!(plain, Ok(expected(&[("/project", false)])));
    }

    #[test]
    fn a_guarded_file_can_only_be_read_and_the_folders_above_it_stay_where_they_are() {
        let (_folder, root) = root();
        let both = ["workspace/a/b/config.toml", "workspace/a/b/modules"];
        let mounts = [
            ("/project", false),
            ("/project/a", false),
            ("/project/a/b", false),
            ("/project/a/b/config.toml", true),
            ("/project/a/b/modules", true),
        ];
        assert_eq!(seen(&root, &both), Ok(expected(&mounts)));
    }

    #[test]
    fn in_a_guarded_folder_all_can_only_be_read() {
        let (_folder, root) = root();
        let whole = ["workspace", "workspace/a/b/config.toml"];
        let mounts = [
            ("/project", true),
            ("/project/a", true),
            ("/project/a/b", true),
            ("/project/a/b/config.toml", true),
        ];
        assert_eq!(seen(&root, &whole), Ok(expected(&mounts)));
        let above = seen(&root, &["."]);
        assert_eq!(above, Ok(expected(&[("/project", true)])));
    }

    #[test]
    fn a_link_that_a_container_could_replace_is_refused_and_one_outside_is_followed() {
        let (_folder, root) = root();
        symlink(root.join("outside.toml"), root.join("workspace/link")).expect("a link");
        symlink("workspace/link", root.join("to-link")).expect("a link");
        symlink("workspace/a", root.join("to-folder")).expect("a link");
        for way in ["workspace/link", "to-link"] {
            let error = seen(&root, &[way]).expect_err("refused");
            assert!(error.contains("workspace/link` in it is a link"), "{error}");
        }
        let mounts = [
            ("/project", false),
            ("/project/a", false),
            ("/project/a/b", false),
            ("/project/a/b/config.toml", true),
        ];
        assert_eq!(
            seen(&root, &["to-folder/b/config.toml"]),
            Ok(expected(&mounts))
        );
    }
}

//! Folder grants: `host::guest`, one path for both sides, and `/workspace`.

use std::path::PathBuf;

use crate::config::Setting;
use crate::config::fault::Fault;
use crate::config::paths;
use crate::config::reader::Entry;
use crate::model::{Access, FolderGrant, Shown as _};

/// Where the workspace appears for a guest.
pub(super) const WORKSPACE: &str = "/workspace";

/// Reads a list of folder grants.
pub(super) fn folders(
    entry: &Entry<'_>,
    access: Access,
    workspace: &Setting<PathBuf>,
) -> Option<Vec<FolderGrant>> {
    let mut grants: Vec<FolderGrant> = Vec::new();
    for grant in entry.list("strings", |item| folder(item, access, workspace))? {
        let earlier = grants.iter().find(|earlier| earlier.guest == grant.guest);
        match earlier {
            Some(earlier) if earlier.host == grant.host => {}
            Some(earlier) => entry.report(conflict(earlier, &grant)),
            None => grants.push(grant),
        }
    }
    Some(grants)
}

/// Two grants put different folders at one place.
pub(super) fn conflict(one: &FolderGrant, other: &FolderGrant) -> Fault {
    let by = |grant: &FolderGrant| {
        let host = grant.host.shown();
        if one.granted_by == other.granted_by {
            format!("`{host}`")
        } else {
            format!("`{host}` by {}", grant.granted_by)
        }
    };
    Fault::error(format!(
        "two different folders are granted as `{}`",
        other.guest
    ))
    .because(format!("{} and {}", by(one), by(other)))
    .help("give one of them another path for the guest: `host::guest`")
}

fn folder(item: &Entry<'_>, access: Access, workspace: &Setting<PathBuf>) -> Option<FolderGrant> {
    let text = item.text()?;
    let (host, guest) = match text.split_once("::") {
        Some((host, guest)) => (expanded(item, host)?, guest.to_owned()),
        None => on_both_sides(item, text, workspace)?,
    };
    let guest = match normalised(&guest) {
        Ok(guest) => guest.to_owned(),
        Err(why) => {
            item.report(
                Fault::error(format!("`{guest}` is no path for a guest"))
                    .because(why)
                    .help("write `host::guest`, for instance `\"./docs::/docs\"`"),
            );
            return None;
        }
    };
    let granted_by = item.setting(()).origin();
    Some(FolderGrant {
        host,
        guest,
        access,
        granted_by,
    })
}

/// One path alone: the same on both sides, except that `/workspace` is the workspace.
fn on_both_sides(
    item: &Entry<'_>,
    text: &str,
    workspace: &Setting<PathBuf>,
) -> Option<(PathBuf, String)> {
    let inside = text.strip_prefix(WORKSPACE);
    if let Some(inside) = inside.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        let inside = inside.trim_matches('/');
        let host = if inside.is_empty() {
            workspace.value.clone()
        } else {
            workspace.value.join(inside)
        };
        return Some((host, text.to_owned()));
    }
    if !text.is_empty() && !paths::is_anchored(text) {
        let name = text.trim_start_matches("./").trim_matches('/');
        item.report(
            Fault::error(format!(
                "`{text}` alone does not say where the guest sees the folder"
            ))
            .because("a guest has absolute paths only")
            .help(format!("write `\"{text}::/{name}\"`")),
        );
        return None;
    }
    // An absolute path is checked as it was written, before it is tidied up.
    let host = expanded(item, text)?;
    let guest = if text.starts_with('/') {
        text
    } else {
        host.to_str()?
    };
    Some((host.clone(), guest.to_owned()))
}

fn expanded(item: &Entry<'_>, text: &str) -> Option<PathBuf> {
    let document = item.document;
    match paths::expand(text, &document.folder, document.environment) {
        Ok(path) => Some(path),
        Err(error) => {
            item.report(
                Fault::error(format!("`{text}` is not a usable path"))
                    .because(error.to_string())
                    .help(error.help()),
            );
            None
        }
    }
}

/// A guest path without a slash at its end, or why it is none.
pub(super) fn normalised(guest: &str) -> Result<&str, &'static str> {
    if guest == "/" {
        return Ok(guest);
    }
    let Some(parts) = guest.strip_prefix('/') else {
        return Err("a guest's path is absolute: it begins with `/`");
    };
    for part in parts.strip_suffix('/').unwrap_or(parts).split('/') {
        match part {
            "" => return Err("a guest's path has no doubled slashes"),
            "." | ".." => return Err("a guest's path has no `.` and no `..`"),
            part if part.contains('\0') => return Err("a guest's path has no NUL"),
            part if part.contains("::") => return Err("`::` stands only between host and guest"),
            _ => {}
        }
    }
    Ok(guest.strip_suffix('/').unwrap_or(guest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_paths_are_absolute_and_plain() {
        for (written, meant) in [("/", "/"), ("/docs", "/docs"), ("/a/b/", "/a/b")] {
            assert_eq!(normalised(written), Ok(meant));
        }
        for written in [
            "", "docs", "./docs", "//", "/a//b", "/a/../b", "/a/.", "/..", "/a\0",
        ] {
            assert!(normalised(written).is_err(), "{written:?}");
        }
    }
}

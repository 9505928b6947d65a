//! Walks the granted folder in a fixed order. Invariant: nothing outside of the root is
//! visited, and the walk ends, since linked folders are never entered.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::error::FindError;

/// Where to walk.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The granted folder.
    pub root: &'a Path,
    /// A folder or file below it; empty is all of it.
    pub path: &'a str,
    /// Whether names that begin with a dot are visited.
    pub hidden: bool,
    /// The walk stops after this many entries.
    pub max_entries: usize,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, or a link to one.
    File,
    /// A folder.
    Folder,
}

/// Something found in the folder.
#[derive(Debug)]
pub struct Entry {
    /// Its path for opening it.
    pub path: PathBuf,
    /// Its path below the root, with `/` between names.
    pub relative: String,
    /// What it is.
    pub kind: Kind,
}

impl Entry {
    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.relative.rsplit('/').next().unwrap_or(&self.relative)
    }
}

/// What a walk could not or would not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Folders that could not be read.
    pub unreadable: usize,
    /// Links that lead to a folder, to nothing, or out of what may be read.
    pub links_skipped: usize,
    /// Whether `max_entries` ended the walk.
    pub stopped: bool,
}

impl Walked {
    /// What the caller should know about what was not seen.
    pub fn notes(&self, max_entries: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stopped {
            notes.push(format!(
                "stopped after {max_entries} entries: narrow `path`"
            ));
        }
        if self.unreadable > 0 {
            notes.push(format!("folders that can not be read: {}", self.unreadable));
        }
        notes
    }

    /// What the caller may want to know although nothing in scope was missed: what a link
    /// leads to is visited under its own path if it is in scope.
    pub fn remark(&self) -> Option<String> {
        let links = self.links_skipped;
        (links > 0).then(|| format!("links not followed: {links}"))
    }
}

/// Visits everything in scope, each folder's entries by name, until `visit` breaks.
pub fn walk(
    scope: Scope<'_>,
    visit: &mut dyn FnMut(&Entry) -> ControlFlow<()>,
) -> Result<Walked, FindError> {
    let start = start_entry(scope)?;
    let mut walked = Walked::default();
    let mut waiting = Vec::new();
    if start.kind == Kind::Folder {
        let entries = children(&start, scope.hidden, &mut walked);
        waiting = entries.map_err(|error| match scope.path {
            "" => not_granted(scope, &error),
            path => FindError::Unreadable {
                path: path.to_owned(),
                kind: error.kind(),
                why: error.to_string(),
            },
        })?;
    } else {
        waiting.push(start);
    }
    let mut visited = 0;
    while let Some(entry) = waiting.pop() {
        if visited == scope.max_entries {
            walked.stopped = true;
            break;
        }
        visited += 1;
        if visit(&entry).is_break() {
            break;
        }
        if entry.kind == Kind::Folder {
            match children(&entry, scope.hidden, &mut walked) {
                Ok(entries) => waiting.extend(entries),
                Err(_) => walked.unreadable += 1,
            }
        }
    }
    Ok(walked)
}

fn start_entry(scope: Scope<'_>) -> Result<Entry, FindError> {
    let relative = relative(scope)?;
    let root = Entry {
        path: scope.root.to_owned(),
        relative: String::new(),
        kind: Kind::Folder,
    };
    if relative.is_empty() {
        return Ok(root);
    }
    let path = scope.root.join(&relative);
    // A folder that is named outright is entered even through a link: it can not form a
    // circle by itself.
    let found = fs::metadata(&path).map_err(|error| match error.kind() {
        _ if fs::metadata(scope.root).is_err() => not_granted(scope, &error),
        io::ErrorKind::NotFound => FindError::NotFound {
            path: relative.clone(),
        },
        _ => FindError::Unreadable {
            path: relative.clone(),
            kind: error.kind(),
            why: error.to_string(),
        },
    })?;
    let kind = if found.is_dir() {
        Kind::Folder
    } else {
        Kind::File
    };
    Ok(Entry {
        path,
        relative,
        kind,
    })
}

fn not_granted(scope: Scope<'_>, why: &io::Error) -> FindError {
    FindError::NotGranted {
        folder: scope.root.display().to_string(),
        why: why.to_string(),
    }
}

/// The path below the root that a caller means, who may write the root before it.
fn relative(scope: Scope<'_>) -> Result<String, FindError> {
    let path = scope.path;
    let root = scope.root.to_string_lossy();
    let below = match path.strip_prefix(root.trim_end_matches('/')) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => path,
    };
    if below.starts_with('/') || below.contains('\\') {
        return Err(FindError::Outside {
            path: path.to_owned(),
        });
    }
    let mut names = Vec::new();
    for name in below.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                return Err(FindError::Outside {
                    path: path.to_owned(),
                });
            }
            name => names.push(name),
        }
    }
    Ok(names.join("/"))
}

/// The entries of a folder, last name first, so that popping gives them in order.
fn children(folder: &Entry, hidden: bool, walked: &mut Walked) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for found in fs::read_dir(&folder.path)? {
        let found = found?;
        let name = found.file_name().to_string_lossy().into_owned();
        if !hidden && name.starts_with('.') {
            continue;
        }
        let Some(kind) = kind_of(&found) else {
            walked.links_skipped += usize::from(found.file_type().is_ok_and(|t| t.is_symlink()));
            continue;
        };
        let relative = match folder.relative.as_str() {
            "" => name,
            parent => format!("{parent}/{name}"),
        };
        entries.push(Entry {
            path: found.path(),
            relative,
            kind,
        });
    }
    entries.sort_by(|a, b| b.relative.cmp(&a.relative));
    Ok(entries)
}

/// What to do with an entry: `None` for devices, pipes and the links that are not followed.
fn kind_of(found: &fs::DirEntry) -> Option<Kind> {
    let kind = found.file_type().ok()?;
    if kind.is_dir() {
        Some(Kind::Folder)
    } else if kind.is_file() {
        Some(Kind::File)
    } else if kind.is_symlink() {
        // A link to a file can not lead in a circle. One that leads out of the grant fails
        // here, since the host resolves it.
        fs::metadata(found.path())
            .is_ok_and(|target| target.is_file())
            .then_some(Kind::File)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;

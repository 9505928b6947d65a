//! The folder of notes. Invariant: a note's file is there whole or not at all, and nothing
//! outside of the folder is touched.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use prx_skill::prelude::*;

use crate::error::NoteError;
use crate::name::name_of;
use crate::note::{Note, from_markdown, revision_of, to_markdown};

/// The extension of notes where the operator sets none.
pub const DEFAULT_EXTENSION: &str = "md";

/// A folder of notes.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    extension: String,
}

/// A note that was written.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The name by which the other tools take it.
    pub name: String,
    /// Names the content that was written.
    pub revision: String,
    /// Whether it took the place of an older note.
    pub replaced: bool,
}

/// A note in a list.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name by which the other tools take it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The size of its file.
    pub bytes: u64,
    /// When it was last changed, in RFC 3339, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// A part of a list, newest first.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The notes, the last changed first.
    pub notes: Vec<Listed>,
    /// How many notes there are in all.
    pub total: usize,
}

impl Folder {
    /// The notes with this extension in the folder `root`.
    pub fn open(root: &Path, extension: &str) -> Result<Self, NoteError> {
        let letters = extension
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric());
        if !letters || !(1..=8).contains(&extension.len()) {
            return Err(NoteError::BadExtension {
                extension: extension.to_owned(),
            });
        }
        let folder = Self {
            root: root.to_owned(),
            extension: extension.to_owned(),
        };
        fs::read_dir(root).map_err(|why| folder.not_granted(why))?;
        Ok(folder)
    }

    /// Writes a note: a new one, or in place of the revision `replaces`.
    ///
    /// Two writers can not both create a note of one name. Two that replace the same
    /// revision within the same instant can: the later one stays.
    pub fn add(
        &self,
        title: &str,
        text: &str,
        replaces: Option<&str>,
    ) -> Result<Written, NoteError> {
        let name = named(title)?;
        let content = to_markdown(title, text)?;
        let temporary = Temporary::write(&self.root, &name, content.as_bytes())
            .map_err(|why| self.failed(&name, "written", why))?;
        if let Some(expected) = replaces {
            self.expect(&name, expected)?;
            temporary.replace(&self.path(&name))
        } else {
            match temporary.create(&self.path(&name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let revision = self.revision(&name).unwrap_or_default();
                    return Err(NoteError::Exists { name, revision });
                }
                result => result,
            }
        }
        .map_err(|why| self.failed(&name, "written", why))?;
        let revision = revision_of(content.as_bytes());
        Ok(Written {
            name,
            revision,
            replaced: replaces.is_some(),
        })
    }

    /// Reads the note with this name or title.
    pub fn read(&self, name: &str) -> Result<Note, NoteError> {
        let name = named(name)?;
        let content = self.content(&name)?;
        Ok(from_markdown(&name, &String::from_utf8_lossy(&content)))
    }

    /// Removes the note with this name or title, if `revision` is still its content.
    pub fn remove(&self, name: &str, revision: Option<&str>) -> Result<Note, NoteError> {
        let note = self.read(name)?;
        if let Some(expected) = revision {
            self.expect(&note.name, expected)?;
        }
        fs::remove_file(self.path(&note.name))
            .map_err(|why| self.failed(&note.name, "removed", why))?;
        Ok(note)
    }

    /// Up to `limit` notes, the last changed first.
    pub fn list(&self, limit: usize) -> Result<Listing, NoteError> {
        let mut found = Vec::new();
        for name in self.names()? {
            let path = self.path(&name);
            let Ok(meta) = fs::metadata(&path) else {
                continue;
            };
            found.push((meta.modified().ok(), meta.len(), name));
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
        let total = found.len();
        found.truncate(limit);
        let listed = |(changed, bytes, name): (Option<SystemTime>, u64, String)| {
            let content = self.content(&name).unwrap_or_default();
            let title = from_markdown(&name, &String::from_utf8_lossy(&content)).title;
            let changed = changed.map(|time| humantime::format_rfc3339_seconds(time).to_string());
            Listed {
                name,
                title,
                bytes,
                changed,
            }
        };
        Ok(Listing {
            notes: found.into_iter().map(listed).collect(),
            total,
        })
    }

    /// The names of all notes, by alphabet.
    pub fn names(&self) -> Result<Vec<String>, NoteError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(|why| self.not_granted(why))? {
            let entry = entry.map_err(|why| self.not_granted(why))?;
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some((name, extension)) = file.rsplit_once('.') else {
                continue;
            };
            // A file that `add` would name otherwise could not be read by its name.
            let ours = extension == self.extension && name_of(name).as_deref() == Some(name);
            if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn not_granted(&self, why: io::Error) -> NoteError {
        NoteError::NotGranted {
            folder: self.root.display().to_string(),
            why,
        }
    }

    fn failed(&self, name: &str, action: &'static str, why: io::Error) -> NoteError {
        let name = name.to_owned();
        match why.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                if action != "read" =>
            {
                let folder = self.root.display().to_string();
                NoteError::NotWritable {
                    name,
                    action,
                    folder,
                    why,
                }
            }
            _ => NoteError::Io { name, action, why },
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.{}", self.extension))
    }

    fn content(&self, name: &str) -> Result<Vec<u8>, NoteError> {
        fs::read(self.path(name)).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => NoteError::NotFound {
                name: name.to_owned(),
            },
            _ => self.failed(name, "read", why),
        })
    }

    fn revision(&self, name: &str) -> Result<String, NoteError> {
        Ok(revision_of(&self.content(name)?))
    }

    fn expect(&self, name: &str, expected: &str) -> Result<(), NoteError> {
        let revision = self.revision(name)?;
        if revision == expected {
            return Ok(());
        }
        Err(NoteError::Changed {
            name: name.to_owned(),
            revision,
        })
    }
}

fn named(title: &str) -> Result<String, NoteError> {
    name_of(title).ok_or_else(|| NoteError::NoName {
        title: title.to_owned(),
    })
}

/// A written file under a name that is no note's; removed again unless it becomes one.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn write(root: &Path, name: &str, content: &[u8]) -> io::Result<Self> {
        let mut attempt = 0_u32;
        let (path, mut file) = loop {
            let path = root.join(format!(".{name}.{attempt}.tmp"));
            match File::create_new(&path) {
                // Another writer's, or left by one that was stopped.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                    attempt += 1;
                }
                opened => break (path, opened?),
            }
        };
        let temporary = Self { path };
        file.write_all(content)?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// Becomes `path`, which must not exist.
    fn create(self, path: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // A file system without links: take the name first, then fill it.
                File::create_new(path)?;
                self.replace(path)
                    .inspect_err(|_| drop(fs::remove_file(path)))
            }
            // The temporary name goes away with `self`.
            linked => linked,
        }
    }

    /// Becomes `path`, whatever was there.
    fn replace(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests;

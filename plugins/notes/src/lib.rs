//! The skill `notes`: five tools over a folder that the operator grants for writing. It
//! asks for `/notes`; another place can be set with `folder` in the tool's configuration,
//! another file extension with `extension`.

pub mod error;
pub mod folder;
pub mod lookup;
pub mod name;
pub mod note;

use std::path::Path;

use prx_skill::prelude::*;
use prx_skill::serde_json::json;

use crate::error::NoteError;
use crate::folder::{DEFAULT_EXTENSION, Folder, Listing, Written};
use crate::lookup::Hits;
use crate::note::Note;

/// Where the folder is, unless the operator sets it.
const FOLDER: &str = "/notes";

/// Write a new note, or replace one whose revision you know.
///
/// The title gives the name: `Plan for May` is stored as `plan-for-may`. A name that is taken
/// is a conflict, and nothing is changed then.
#[tool(
    title = "Add a note",
    read_only = false,
    destructive,
    idempotent = false,
    open_world = false,
    writes("/notes", "to keep the notes, one Markdown file each")
)]
fn add(
    /// One line, with at least one letter or digit.
    #[schemars(length(min = 1, max = 200))]
    title: &str,
    /// The text, in Markdown.
    text: &str,
    /// To replace a note: its `revision`, as `read` gave it. If the note has another revision
    /// by now, it is left alone and the call is a conflict.
    replaces: Option<String>,
) -> Result<Written, ToolError> {
    let written = open()?
        .add(title, text, replaces.as_deref())
        .map_err(tool_error)?;
    log::field("name", &written.name)
        .field("replaced", written.replaced)
        .info("wrote a note");
    Ok(written)
}

/// List the notes, the last changed first.
#[tool(
    title = "List notes",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    reads("/notes", "to list the notes")
)]
fn list(
    /// Notes to list at most.
    #[default(100)]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
) -> Result<Listing, ToolError> {
    open()?.list(limit).map_err(tool_error)
}

/// Read one note by its name or title.
#[tool(
    title = "Read a note",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    reads("/notes", "to read the note")
)]
fn read(
    /// The name or title of the note.
    name: &str,
) -> Result<Note, ToolError> {
    open()?.read(name).map_err(tool_error)
}

/// Find the notes that hold a text in their title or body.
#[tool(
    title = "Search notes",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    reads("/notes", "to search in the notes")
)]
fn search(
    /// What to search for; upper and lower case are the same.
    query: &str,
    /// Notes to give at most.
    #[default(20)]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
) -> Result<Hits, ToolError> {
    let mut tell = |done, total| progress::count(done, total, "notes");
    lookup::search(&open()?, query, limit, &mut tell).map_err(tool_error)
}

/// Remove one note for good and answer what was in it.
#[tool(
    title = "Remove a note",
    read_only = false,
    destructive,
    idempotent = false,
    open_world = false,
    writes("/notes", "to remove the note's file")
)]
fn remove(
    /// The name or title of the note.
    name: &str,
    /// Remove it only if it still has this revision, as `read` gave it.
    revision: Option<String>,
) -> Result<Note, ToolError> {
    let removed = open()?
        .remove(name, revision.as_deref())
        .map_err(tool_error)?;
    log::field("name", &removed.name).info("removed a note");
    Ok(removed)
}

fn open() -> Result<Folder, ToolError> {
    let folder: String = config::get_or("folder", FOLDER)?;
    let extension: String = config::get_or("extension", DEFAULT_EXTENSION)?;
    Folder::open(Path::new(&folder), &extension).map_err(tool_error)
}

fn tool_error(error: NoteError) -> ToolError {
    let message = error.to_string();
    match error {
        NoteError::NotGranted { .. } | NoteError::NotWritable { .. } => ToolError::denied(message),
        NoteError::NoName { .. }
        | NoteError::BadTitle { .. }
        | NoteError::TooLong { .. }
        | NoteError::EmptyQuery => ToolError::invalid_arguments(message),
        NoteError::NotFound { name } => {
            ToolError::not_found(message).with_data(json!({ "name": name }))
        }
        NoteError::Exists { name, revision } | NoteError::Changed { name, revision } => {
            ToolError::conflict(message).with_data(json!({ "name": name, "revision": revision }))
        }
        NoteError::BadExtension { .. } => ToolError::failed(message),
        // The kind of the system's error says what sort of failure it is.
        NoteError::Io { why, .. } => ToolError::new(ToolError::from(why).kind(), message),
    }
}

prx_skill::skill!(add, list, read, search, remove);

#[cfg(test)]
mod tests;

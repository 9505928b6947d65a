//! The skill `find`: two tools over a folder that the operator grants for reading. It asks
//! for `/docs`; another place can be set with `folder` in the tool's configuration.

pub mod error;
pub mod folder;
pub mod lines;
pub mod names;

use std::io;
use std::path::PathBuf;

use prx_skill::prelude::*;

use crate::error::FindError;
use crate::folder::Scope;
use crate::lines::{Lines, Search};
use crate::names::{Names, Pattern, Wanted};

/// Where the folder is, unless the operator sets it.
const FOLDER: &str = "/docs";
/// Entries that one call visits at most, so that it ends within usual time limits.
const MAX_ENTRIES: usize = 100_000;
/// Progress is told once for so many entries or files.
const PROGRESS_STEP: u64 = 25;

/// Find files and folders of the documents folder by name, with a pattern such as `*.md`.
///
/// Answers paths below the folder, with sizes. Linked folders are not entered.
#[tool(
    title = "Find files by name",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    reads("/docs", "to list the files that are searched for")
)]
fn name(
    /// `*` and `?` stay within a name, `**` spans folders, `{a,b}` and `[a-z]` choose. Without
    /// `/` it is compared with names (`*.md`), with `/` with whole paths (`guide/**/*.md`).
    pattern: &str,
    /// Search only below this folder, for instance `guide`.
    #[default("")]
    path: &str,
    /// Find only files or only folders.
    #[default]
    kind: Wanted,
    /// Tell upper case from lower case.
    #[default(false)]
    case_sensitive: bool,
    /// Visit names that begin with a dot as well.
    #[default(false)]
    hidden: bool,
    /// Matches to give at most.
    #[default(100)]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
) -> Result<Structured<Names>, ToolError> {
    let root = root()?;
    let scope = Scope {
        root: &root,
        path,
        hidden,
        max_entries: MAX_ENTRIES,
    };
    let pattern = Pattern::new(pattern, case_sensitive).map_err(|error| tool_error(&error))?;
    let found = names::find_names(scope, &pattern, kind, limit, &mut tell_progress("entries"))
        .map_err(|error| tool_error(&error))?;
    let text = found.to_text();
    Ok(Structured::new(found).text(text))
}

/// Find lines in the text files of the documents folder that contain a text or match a
/// regular expression.
///
/// Answers file, line number and line for each match, with lines around it on request.
/// Binary files and files over 8 MiB are skipped, linked folders are not entered.
#[tool(
    title = "Find text in files",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    reads("/docs", "to read the files that are searched")
)]
fn text(#[arguments] question: TextQuestion) -> Result<Structured<Lines>, ToolError> {
    let root = root()?;
    let TextQuestion {
        query,
        regex,
        files,
        path,
        case_sensitive,
        hidden,
        context,
        limit,
    } = question;
    let scope = Scope {
        root: &root,
        path: &path,
        hidden,
        max_entries: MAX_ENTRIES,
    };
    let mut search =
        Search::new(&query, regex, case_sensitive).map_err(|error| tool_error(&error))?;
    search.context = context.into();
    search.limit = limit;
    let files = files.map(|glob| Pattern::new(&glob, case_sensitive));
    search.files = files.transpose().map_err(|error| tool_error(&error))?;
    let found = lines::find_lines(scope, &search, &mut tell_progress("files"))
        .map_err(|error| tool_error(&error))?;
    log::field("files", found.files_searched)
        .field("matches", found.matches.len())
        .debug("searched the folder");
    let text = found.to_text();
    Ok(Structured::new(found).text(text))
}

/// The arguments of `text`.
#[data(input)]
#[derive(Debug)]
#[serde(deny_unknown_fields)]
struct TextQuestion {
    /// What to search for, within single lines.
    query: String,
    /// Take `query` as a regular expression, for instance `^## .*setup`.
    #[serde(default)]
    regex: bool,
    /// Search only files with such names or paths, for instance `*.{md,txt}`.
    #[serde(default)]
    files: Option<String>,
    /// Search only below this folder, or only this file.
    #[serde(default)]
    path: String,
    /// Tell upper case from lower case.
    #[serde(default)]
    case_sensitive: bool,
    /// Search files as well whose names begin with a dot.
    #[serde(default)]
    hidden: bool,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 10))]
    context: u8,
    /// Matching lines to give at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

fn default_limit() -> usize {
    50
}

fn root() -> Result<PathBuf, ToolError> {
    config::get_or::<String>("folder", FOLDER).map(PathBuf::from)
}

fn tell_progress(what: &'static str) -> impl FnMut(u64) {
    move |done| {
        if done.is_multiple_of(PROGRESS_STEP) {
            progress::count(done, None, what);
        }
    }
}

fn tool_error(error: &FindError) -> ToolError {
    let message = error.to_string();
    match error {
        FindError::NotGranted { .. } => ToolError::denied(message),
        FindError::NotFound { .. } => ToolError::not_found(message),
        // The kind of the system's error says what sort of failure it is.
        FindError::Unreadable { kind, .. } => {
            ToolError::new(ToolError::from(io::Error::from(*kind)).kind(), message)
        }
        FindError::Outside { .. }
        | FindError::BadGlob { .. }
        | FindError::BadExpression { .. }
        | FindError::EmptyQuery => ToolError::invalid_arguments(message),
    }
}

prx_skill::skill!(name, text);

#[cfg(test)]
mod tests;

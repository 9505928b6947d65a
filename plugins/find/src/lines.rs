//! Finds lines in files. Binary files and files over [`MAX_FILE_BYTES`] are counted, not
//! searched, and the answer stays under [`MAX_TEXT_BYTES`].

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use prx_skill::prelude::*;
use regex::{Regex, RegexBuilder};

use crate::error::FindError;
use crate::folder::{Kind, Scope, Walked, walk};
use crate::names::{Pattern, join};

/// Larger files are not searched: they are rarely text that somebody wrote.
pub const MAX_FILE_BYTES: u64 = 8 << 20;
/// The search ends when the lines of its answer reach this size.
pub const MAX_TEXT_BYTES: usize = 200_000;
/// Longer lines are cut around the match.
const MAX_LINE_CHARACTERS: usize = 300;
/// A NUL byte this near to the beginning marks a binary file.
const BINARY_PROBE_BYTES: usize = 8192;

/// What to look for in which files.
pub struct Search {
    expression: Regex,
    /// Only files that match are searched.
    pub files: Option<Pattern>,
    /// Lines to show before and after each match.
    pub context: usize,
    /// Matching lines to give at most.
    pub limit: usize,
}

impl Search {
    /// Looks for `query`, as plain text or as a regular expression, within single lines.
    pub fn new(query: &str, regex: bool, case_sensitive: bool) -> Result<Self, FindError> {
        if query.is_empty() {
            return Err(FindError::EmptyQuery);
        }
        let text = if regex {
            query.to_owned()
        } else {
            regex::escape(query)
        };
        let expression = RegexBuilder::new(&text)
            .case_insensitive(!case_sensitive)
            .size_limit(1 << 20)
            .build()
            .map_err(|error| {
                // The engine draws a picture of the fault; its last line is the reason.
                let drawn = error.to_string();
                let why = drawn.lines().last().unwrap_or_default();
                let why = why.trim_start_matches("error: ").to_owned();
                FindError::BadExpression {
                    expression: query.to_owned(),
                    why,
                }
            })?;
        Ok(Self {
            expression,
            files: None,
            context: 0,
            limit: 50,
        })
    }
}

/// What was found in files.
#[data(output)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The matching lines, file by file.
    pub matches: Vec<LineMatch>,
    /// Files that were read and searched.
    pub files_searched: u64,
    /// Files that hold at least one match.
    pub files_matched: u64,
    /// Whether every text file in scope was searched to its end.
    pub complete: bool,
    /// What was left out and why, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One matching line.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMatch {
    /// The file, below the searched folder.
    pub path: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The line; a long one is cut around the match.
    pub text: String,
    /// The lines before it, if context was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it, if context was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

impl Lines {
    /// The lines as grep prints them, and the note.
    pub fn to_text(&self) -> String {
        let mut blocks: Vec<String> = Vec::new();
        for LineMatch {
            path,
            line,
            text,
            before,
            after,
        } in &self.matches
        {
            let mut lines = Vec::new();
            for (index, text) in before.iter().enumerate() {
                lines.push(format!("{path}-{}-{text}", line - before.len() + index));
            }
            lines.push(format!("{path}:{line}:{text}"));
            for (index, text) in after.iter().enumerate() {
                lines.push(format!("{path}-{}-{text}", line + 1 + index));
            }
            blocks.push(lines.join("\n"));
        }
        if blocks.is_empty() {
            blocks.push(format!("nothing found in {} files", self.files_searched));
        }
        let has_context = self
            .matches
            .iter()
            .any(|found| found.before.len() + found.after.len() > 0);
        let text = blocks.join(if has_context { "\n--\n" } else { "\n" });
        match &self.note {
            Some(note) => format!("{text}\n({note})"),
            None => text,
        }
    }
}

#[derive(Default)]
struct Tally {
    found: Lines,
    text_bytes: usize,
    binary: usize,
    too_large: usize,
    unreadable: usize,
    /// Why the search ended early.
    ended: Option<String>,
}

/// Searches the files in scope, telling `progress` how many are done.
pub fn find_lines(
    scope: Scope<'_>,
    search: &Search,
    progress: &mut dyn FnMut(u64),
) -> Result<Lines, FindError> {
    let mut tally = Tally::default();
    let walked = walk(scope, &mut |entry| {
        let wanted = search
            .files
            .as_ref()
            .is_none_or(|pattern| pattern.matches(entry));
        if entry.kind == Kind::Folder || !wanted {
            return ControlFlow::Continue(());
        }
        match read_text(&entry.path) {
            Ok(FileText::Text(text)) => {
                tally.found.files_searched += 1;
                progress(tally.found.files_searched);
                tally.search_file(&entry.relative, &text, search)
            }
            Ok(FileText::Binary) => tally.skip(|tally| &mut tally.binary),
            Ok(FileText::TooLarge) => tally.skip(|tally| &mut tally.too_large),
            Err(_) => tally.skip(|tally| &mut tally.unreadable),
        }
    })?;
    Ok(tally.finish(walked, scope.max_entries))
}

impl Tally {
    fn skip(&mut self, counter: fn(&mut Self) -> &mut usize) -> ControlFlow<()> {
        *counter(self) += 1;
        ControlFlow::Continue(())
    }

    fn search_file(&mut self, path: &str, text: &str, search: &Search) -> ControlFlow<()> {
        let lines: Vec<&str> = text.lines().collect();
        let mut matched = false;
        for (index, line) in lines.iter().enumerate() {
            let Some(found) = search.expression.find(line) else {
                continue;
            };
            if self.found.matches.len() == search.limit {
                let limit = search.limit;
                self.ended = Some(format!(
                    "more than {limit} lines match: narrow `query`, `files` or `path`, or raise \
                     `limit`"
                ));
                return ControlFlow::Break(());
            }
            if self.text_bytes >= MAX_TEXT_BYTES {
                self.ended = Some(format!(
                    "the lines found reached {MAX_TEXT_BYTES} bytes: narrow the search or lower \
                     `context`"
                ));
                return ControlFlow::Break(());
            }
            if !matched {
                matched = true;
                self.found.files_matched += 1;
            }
            let first = index.saturating_sub(search.context);
            let end = lines.len().min(index + 1 + search.context);
            let shown = |lines: &[&str]| lines.iter().map(|line| cut(line, 0)).collect();
            self.push(LineMatch {
                path: path.to_owned(),
                line: index + 1,
                text: cut(line, found.start()),
                before: shown(&lines[first..index]),
                after: shown(&lines[index + 1..end]),
            });
        }
        ControlFlow::Continue(())
    }

    fn push(&mut self, found: LineMatch) {
        let around = found
            .before
            .iter()
            .chain(&found.after)
            .map(String::len)
            .sum::<usize>();
        self.text_bytes += found.path.len() + found.text.len() + around;
        self.found.matches.push(found);
    }

    fn finish(self, walked: Walked, max_entries: usize) -> Lines {
        // Links and binary files are no loss to a search for text: they leave it complete.
        let mut notes = walked.notes(max_entries);
        notes.extend(self.ended);
        if self.too_large > 0 {
            let (files, limit) = (self.too_large, MAX_FILE_BYTES >> 20);
            notes.push(format!("files over {limit} MiB not searched: {files}"));
        }
        if self.unreadable > 0 {
            notes.push(format!("files that can not be read: {}", self.unreadable));
        }
        let complete = notes.is_empty();
        notes.extend(walked.remark());
        if self.binary > 0 {
            notes.push(format!("binary files skipped: {}", self.binary));
        }
        Lines {
            complete,
            note: join(&notes),
            ..self.found
        }
    }
}

enum FileText {
    Text(String),
    Binary,
    TooLarge,
}

fn read_text(path: &Path) -> io::Result<FileText> {
    let file = File::open(path)?;
    if file.metadata()?.len() > MAX_FILE_BYTES {
        return Ok(FileText::TooLarge);
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Ok(FileText::TooLarge);
    }
    if bytes[..bytes.len().min(BINARY_PROBE_BYTES)].contains(&0) {
        return Ok(FileText::Binary);
    }
    Ok(FileText::Text(match String::from_utf8(bytes) {
        Ok(text) => text,
        // Text in an older encoding is still worth searching for its ASCII part.
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

/// A line of at most [`MAX_LINE_CHARACTERS`], which show the byte at `focus`.
fn cut(line: &str, focus: usize) -> String {
    let length = line.chars().count();
    if length <= MAX_LINE_CHARACTERS {
        return line.to_owned();
    }
    let before_focus = line[..focus].chars().count();
    let start = before_focus
        .saturating_sub(MAX_LINE_CHARACTERS / 3)
        .min(length - MAX_LINE_CHARACTERS);
    let middle: String = line.chars().skip(start).take(MAX_LINE_CHARACTERS).collect();
    let left = if start > 0 { "\u{2026}" } else { "" };
    let right = if start + MAX_LINE_CHARACTERS < length {
        "\u{2026}"
    } else {
        ""
    };
    format!("{left}{middle}{right}")
}

#[cfg(test)]
mod tests;

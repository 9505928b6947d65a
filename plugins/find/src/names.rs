//! Finds files and folders by name. Reads no file.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use prx_skill::prelude::*;

use crate::error::FindError;
use crate::folder::{Entry, Kind, Scope, walk};

/// Which entries to find.
#[data]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Files and folders.
    #[default]
    Any,
    /// Files only.
    File,
    /// Folders only.
    Folder,
}

/// What was found by name.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// What matches, folder by folder, each by alphabet.
    pub matches: Vec<NameMatch>,
    /// Whether everything in scope was seen.
    pub complete: bool,
    /// What was left out and why, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One file or folder.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMatch {
    /// Its path below the searched folder, as `path` of both tools takes it.
    pub path: String,
    /// `file` or `folder`.
    pub kind: Wanted,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Names {
    /// One line for each match, and the note.
    pub fn to_text(&self) -> String {
        let line = |found: &NameMatch| match found.bytes {
            Some(bytes) => format!("{} ({bytes} bytes)", found.path),
            None if found.kind == Wanted::Folder => format!("{}/", found.path),
            None => found.path.clone(),
        };
        let mut lines: Vec<String> = self.matches.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("nothing found".to_owned());
        }
        lines.extend(self.note.iter().map(|note| format!("({note})")));
        lines.join("\n")
    }
}

/// A pattern for names (without `/`) or for whole paths (with `/`).
pub struct Pattern {
    matcher: GlobMatcher,
    whole_path: bool,
}

impl Pattern {
    /// Reads a glob: `*` and `?` stay within a name, `**` spans folders, `{a,b}` and `[a-z]`
    /// choose.
    pub fn new(glob: &str, case_sensitive: bool) -> Result<Self, FindError> {
        let bad = |why: String| FindError::BadGlob {
            glob: glob.to_owned(),
            why,
        };
        if glob.is_empty() {
            return Err(bad("it is empty; `*` matches every name".to_owned()));
        }
        let built = GlobBuilder::new(glob)
            .case_insensitive(!case_sensitive)
            .literal_separator(true)
            .build()
            .map_err(|error| bad(error.kind().to_string()))?;
        Ok(Self {
            matcher: built.compile_matcher(),
            whole_path: glob.contains('/'),
        })
    }

    /// Whether an entry matches.
    pub fn matches(&self, entry: &Entry) -> bool {
        self.matcher.is_match(if self.whole_path {
            &entry.relative
        } else {
            entry.name()
        })
    }
}

/// Finds up to `limit` entries whose name or path matches.
pub fn find_names(
    scope: Scope<'_>,
    pattern: &Pattern,
    wanted: Wanted,
    limit: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Names, FindError> {
    let mut matches = Vec::new();
    let mut visited = 0;
    let mut over_limit = false;
    let walked = walk(scope, &mut |entry| {
        visited += 1;
        progress(visited);
        let kind = match entry.kind {
            Kind::File => Wanted::File,
            Kind::Folder => Wanted::Folder,
        };
        if (wanted != Wanted::Any && wanted != kind) || !pattern.matches(entry) {
            return ControlFlow::Continue(());
        }
        if matches.len() == limit {
            over_limit = true;
            return ControlFlow::Break(());
        }
        let size = || std::fs::metadata(&entry.path).ok().map(|found| found.len());
        let bytes = if kind == Wanted::File { size() } else { None };
        matches.push(NameMatch {
            path: entry.relative.clone(),
            kind,
            bytes,
        });
        ControlFlow::Continue(())
    })?;
    let mut notes = walked.notes(scope.max_entries);
    if over_limit {
        notes.push(format!(
            "more than {limit} match: narrow `pattern` or `path`, or raise `limit`"
        ));
    }
    let complete = notes.is_empty();
    notes.extend(walked.remark());
    let note = join(&notes);
    Ok(Names {
        matches,
        complete,
        note,
    })
}

/// Several notes as one text.
pub fn join(notes: &[String]) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "README.md",
            "guide/setup.md",
            "guide/deep/setup.txt",
            "guide/notes.MD",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        }
        folder
    }

    fn found(root: &Path, glob: &str, wanted: Wanted, limit: usize) -> (Vec<String>, Names) {
        let scope = Scope {
            root,
            path: "",
            hidden: false,
            max_entries: 1000,
        };
        let pattern = Pattern::new(glob, false).unwrap();
        let names = find_names(scope, &pattern, wanted, limit, &mut |_| {}).unwrap();
        (
            names
                .matches
                .iter()
                .map(|found| found.path.clone())
                .collect(),
            names,
        )
    }

    #[test]
    fn a_pattern_without_a_slash_matches_names_in_every_folder() {
        let folder = folder();
        let expected = ["README.md", "guide/notes.MD", "guide/setup.md"];
        assert_eq!(found(folder.path(), "*.md", Wanted::Any, 10).0, expected);
        let expected = ["guide/deep/setup.txt", "guide/setup.md"];
        assert_eq!(
            found(folder.path(), "setup.{md,txt}", Wanted::Any, 10).0,
            expected
        );
    }

    #[test]
    fn a_pattern_with_a_slash_matches_whole_paths() {
        let folder = folder();
        assert_eq!(
            found(folder.path(), "guide/*.md", Wanted::Any, 10).0.len(),
            2
        );
        assert_eq!(
            found(folder.path(), "**/setup.*", Wanted::Any, 10).0.len(),
            2
        );
    }

    #[test]
    fn files_carry_their_size_and_folders_do_not() {
        let folder = folder();
        let (paths, names) = found(folder.path(), "*", Wanted::Folder, 10);
        assert_eq!(paths, ["guide", "guide/deep"]);
        assert!(names.matches.iter().all(|found| found.bytes.is_none()));
        let (_, names) = found(folder.path(), "README*", Wanted::File, 10);
        assert_eq!(names.matches[0].bytes, Some(5));
    }

    #[test]
    fn case_counts_only_when_asked_for() {
        let entry = |relative: &str| Entry {
            path: relative.into(),
            relative: relative.to_owned(),
            kind: Kind::File,
        };
        assert!(Pattern::new("*.md", false).unwrap().matches(&entry("A.MD")));
        assert!(!Pattern::new("*.md", true).unwrap().matches(&entry("A.MD")));
    }

    #[test]
    fn a_reached_limit_is_told_with_a_remedy() {
        let folder = folder();
        let (paths, names) = found(folder.path(), "*", Wanted::Any, 2);
        assert_eq!(paths.len(), 2);
        assert!(!names.complete);
        assert!(names.note.unwrap().contains("raise `limit`"));
        assert!(found(folder.path(), "*", Wanted::Any, 6).1.complete);
    }

    #[test]
    fn malformed_patterns_say_what_is_wrong() {
        for glob in ["", "[a", "{a,b"] {
            let error = Pattern::new(glob, false).err().unwrap();
            assert!(
                matches!(error, FindError::BadGlob { .. }),
                "{glob}: {error}"
            );
        }
    }
}

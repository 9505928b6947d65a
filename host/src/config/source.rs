//! The text of a configuration file and where in it something stands. Every offset,
//! also one past the end or inside a character, has a place.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Place;

/// A file's name and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceText {
    file: PathBuf,
    text: Arc<str>,
    line_starts: Arc<[usize]>,
}

impl SourceText {
    pub(super) fn new(file: &Path, text: &str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            file: file.to_owned(),
            text: text.into(),
            line_starts: std::iter::once(0).chain(after_newlines).collect(),
        }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span that the parser gave.
    pub(super) fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Line and column of an offset.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        Place {
            file: self.file.clone(),
            line,
            column: self.text[start..offset].chars().count() + 1,
        }
    }

    /// The text of a line, counted from 1, without its end.
    pub(super) fn line(&self, line: usize) -> &str {
        self.text.lines().nth(line - 1).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let source = SourceText::new(Path::new("c.toml"), "ab\n\u{e9}\u{e9}x\n");
        for (offset, line, column) in [
            (0, 1, 1),
            (2, 1, 3),
            (3, 2, 1),
            (5, 2, 2),
            (6, 2, 2),
            (7, 2, 3),
            (9, 3, 1),
            (900, 3, 1),
        ] {
            let place = source.place(offset);
            assert_eq!((place.line, place.column), (line, column), "at {offset}");
        }
    }

    #[test]
    fn an_empty_text_has_a_first_line() {
        let place = SourceText::new(Path::new("c.toml"), "").place(0);
        assert_eq!((place.line, place.column), (1, 1));
    }
}

//! Names and paths from outside, in a message: they stay within their line and can not
//! drive a terminal.
//!
//! Invariant: whoever puts a path, or a name that a module chose, into text for people does
//! it through [`Shown`]; values of JSON stay as they are.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// What can be shown in one line.
pub trait Shown {
    /// For a message. What would begin a line, move the cursor, change colours or reorder
    /// the line is escaped as in Rust; bytes that are no UTF-8 are replaced.
    fn shown(&self) -> InOneLine<'_>;
}

impl Shown for str {
    fn shown(&self) -> InOneLine<'_> {
        InOneLine(self.as_ref())
    }
}

impl Shown for OsStr {
    fn shown(&self) -> InOneLine<'_> {
        InOneLine(self)
    }
}

impl Shown for Path {
    fn shown(&self) -> InOneLine<'_> {
        InOneLine(self.as_os_str())
    }
}

impl Shown for PathBuf {
    fn shown(&self) -> InOneLine<'_> {
        self.as_path().shown()
    }
}

/// A text as [`Shown`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct InOneLine<'a>(&'a OsStr);

impl fmt::Display for InOneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_encoded_bytes().utf8_chunks() {
            for letter in chunk.valid().chars() {
                if is_disturbing(letter) {
                    write!(f, "{}", letter.escape_debug())?;
                } else {
                    f.write_char(letter)?;
                }
            }
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// Whether a character does something to a line other than standing in it.
pub fn is_disturbing(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_shown_as_it_is_but_for_what_disturbs_a_line() {
        for (path, shown) in [
            ("/srv/a b/größe'\"\\🦀.wasm", "/srv/a b/größe'\"\\🦀.wasm"),
            ("a\nerror: b", "a\\nerror: b"),
            (
                "\u{1b}[2J\r\t\u{7f}\u{9b}",
                "\\u{1b}[2J\\r\\t\\u{7f}\\u{9b}",
            ),
            ("a\u{202e}b\u{2028}c", "a\\u{202e}b\\u{2028}c"),
        ] {
            assert_eq!(Path::new(path).shown().to_string(), shown);
            assert_eq!(path.shown().to_string(), shown);
        }
        let odd = Path::new(OsStr::from_bytes(b"a\xff\nb\xc3"));
        assert_eq!(odd.shown().to_string(), "a\u{fffd}\\nb\u{fffd}");
    }

    proptest! {
        #[test]
        fn whatever_a_path_is_it_stays_within_its_line(bytes in any::<Vec<u8>>()) {
            let shown = Path::new(OsStr::from_bytes(&bytes)).shown().to_string();
            prop_assert!(!shown.contains(is_disturbing), "{shown:?}");
            prop_assert!(shown.lines().count() <= 1);
        }

        #[test]
        fn what_disturbs_nothing_is_shown_as_it_is(text in "[^\\p{C}\\u{2028}\\u{2029}]*") {
            prop_assert_eq!(text.shown().to_string(), text);
        }
    }
}

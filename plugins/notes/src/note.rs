//! What is in the file of a note: a heading with its title, a blank line, the text.

use prx_skill::prelude::*;

use crate::error::NoteError;

/// Characters that a title may have.
pub const MAX_TITLE_CHARACTERS: usize = 200;
/// Bytes that a text may have.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A whole note.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The name by which the other tools take it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub text: String,
    /// Names this content. Give it as `replaces` to `add` or as `revision` to `remove`, to
    /// be sure that nobody has changed the note since.
    pub revision: String,
}

/// The content of the file of a note.
pub fn to_markdown(title: &str, text: &str) -> Result<String, NoteError> {
    let title = title.trim();
    if title.chars().count() > MAX_TITLE_CHARACTERS || title.chars().any(char::is_control) {
        return Err(NoteError::BadTitle {
            limit: MAX_TITLE_CHARACTERS,
        });
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(NoteError::TooLong {
            bytes: text.len(),
            limit: MAX_TEXT_BYTES,
        });
    }
    Ok(format!("# {title}\n\n{}\n", text.trim_end()))
}

/// The note in a file. A file that a person wrote without a heading is a note too: its name
/// is its title.
pub fn from_markdown(name: &str, content: &str) -> Note {
    let (title, text) = match content.strip_prefix("# ") {
        Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
        None => (name, content),
    };
    Note {
        name: name.to_owned(),
        title: title.trim().to_owned(),
        text: text.trim_start_matches(['\r', '\n']).trim_end().to_owned(),
        revision: revision_of(content.as_bytes()),
    }
}

/// The 64-bit FNV-1a hash. It tells contents apart that honest writers leave; it is no
/// protection against forgery, and nothing here depends on one.
pub fn revision_of(content: &[u8]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in content {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_as_it_was_written() {
        for (title, text) in [
            ("Plan", "one\n\ntwo"),
            ("T", ""),
            ("# odd", "# not the title\n- a"),
            ("\u{dc}ber", "  indented"),
        ] {
            let content = to_markdown(title, text).unwrap();
            let note = from_markdown("n", &content);
            assert_eq!((note.title.as_str(), note.text.as_str()), (title, text));
        }
    }

    #[test]
    fn a_file_without_a_heading_is_named_by_its_name() {
        let note = from_markdown("groceries", "milk\r\neggs\r\n");
        assert_eq!(
            (note.title.as_str(), note.text.as_str()),
            ("groceries", "milk\r\neggs")
        );
        assert_eq!(from_markdown("n", "# only").title, "only");
        assert_eq!(from_markdown("n", "").text, "");
    }

    #[test]
    fn titles_of_several_lines_and_huge_texts_are_refused() {
        for title in ["a\nb", "a\u{0}", &"x".repeat(201)] {
            let error = to_markdown(title, "text").unwrap_err();
            assert!(matches!(error, NoteError::BadTitle { .. }), "{error}");
        }
        let error = to_markdown("t", &"x".repeat(MAX_TEXT_BYTES + 1)).unwrap_err();
        assert!(matches!(error, NoteError::TooLong { .. }), "{error}");
    }

    #[test]
    fn revisions_follow_the_published_hash() {
        assert_eq!(revision_of(b""), "cbf29ce484222325");
        assert_eq!(revision_of(b"a"), "af63dc4c8601ec8c");
        assert_eq!(revision_of(b"foobar"), "85944171f73967e8");
    }
}

//! Text of guests, made harmless: a guest must not drive the terminal.

use std::fmt::Write as _;

use prx_host::model::is_disturbing;

/// The text with every character escaped that would move the cursor, change colours or
/// reorder what stands on the line. Newlines and tabs stay.
pub fn safe(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => harmless.push(letter),
            // The line end of other systems.
            '\r' if letters.peek() == Some(&'\n') => {}
            letter if is_disturbing(letter) => {
                let _ = write!(harmless, "{}", letter.escape_debug());
            }
            letter => harmless.push(letter),
        }
    }
    harmless
}

/// Bytes that arrive in pieces, as text: a character that two pieces share stays whole.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// The text that is complete with these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let cut = self.pending.len() - incomplete(&self.pending);
        let rest = self.pending.split_off(cut);
        let whole = std::mem::replace(&mut self.pending, rest);
        String::from_utf8_lossy(&whole).into_owned()
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

/// Bytes at the end that begin a character and do not finish it.
fn incomplete(bytes: &[u8]) -> usize {
    for length in 1..=3.min(bytes.len()) {
        let tail = &bytes[bytes.len() - length..];
        match std::str::from_utf8(tail) {
            Ok(_) => return 0,
            Err(error) if error.error_len().is_none() && error.valid_up_to() == 0 => return length,
            Err(_) => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_drive_a_terminal_is_escaped() {
        for (text, harmless) in [
            ("plain \u{1F980}\n\ttext", "plain \u{1F980}\n\ttext"),
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("over\rwritten", "over\\rwritten"),
            ("two\r\nlines", "two\nlines"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\x07\x08\x7f", "\\u{7}\\u{8}\\u{7f}"),
        ] {
            assert_eq!(safe(text), harmless);
        }
    }

    proptest! {
        #[test]
        fn nothing_but_newlines_and_tabs_is_left_of_control_characters(text in any::<String>()) {
            prop_assert!(safe(&text).chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        }

        #[test]
        fn text_in_pieces_is_the_text(text in any::<String>(), size in 1_usize..7) {
            let mut decoder = Decoder::default();
            let mut whole: String = text.as_bytes().chunks(size).map(|c| decoder.push(c)).collect();
            whole.push_str(&decoder.finish());
            prop_assert_eq!(whole, text);
        }
    }
}

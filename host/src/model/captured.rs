//! The beginning of a stream: what is kept of what a guest or command prints.

/// The beginning of a stream, and how much more there was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Bytes that were read and thrown away because the limit was reached.
    pub dropped: u64,
}

impl Captured {
    /// Drops what is beyond the first `limit` bytes.
    pub fn cut(&mut self, limit: u64) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let beyond = self.bytes.len().saturating_sub(limit);
        self.bytes.truncate(limit);
        self.dropped += beyond as u64;
    }

    /// The bytes as text, invalid UTF-8 replaced; a character cut by the limit is left out.
    pub fn text(&self) -> String {
        let mut bytes = self.bytes.as_slice();
        if self.dropped > 0 {
            // An incomplete last character is the cut's fault, not the program's.
            if let Err(error) = std::str::from_utf8(bytes)
                && error.error_len().is_none()
            {
                bytes = &bytes[..error.valid_up_to()];
            }
        }
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The last lines in one, where a program says why it gave up; `None` if it was silent.
    pub fn last_words(&self) -> Option<String> {
        const LINES: usize = 3;
        const CHARS: usize = 400;
        let text = self.text();
        let mut lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE"))
            .rev()
            .take(LINES)
            .collect();
        if lines.is_empty() {
            return None;
        }
        lines.reverse();
        let words = lines.join(" ");
        let skipped = words.chars().count().saturating_sub(CHARS);
        Some(words.chars().skip(skipped).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_by_the_limit_is_left_out() {
        let cut = Captured {
            bytes: "h\u{e9}".as_bytes()[..2].to_vec(),
            dropped: 1,
        };
        assert_eq!(cut.text(), "h");
        let own_fault = Captured {
            bytes: vec![b'h', 0xc3],
            dropped: 0,
        };
        assert_eq!(own_fault.text(), "h\u{fffd}");
    }
}

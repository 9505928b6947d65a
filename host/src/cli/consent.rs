//! A person's word, before something is granted, replaced or removed.
//!
//! Invariant: only a line that says yes is a yes; the end of input, an error and every
//! other line are a no. Nobody is asked who could not see the question.

use std::io::{self, BufRead, IsTerminal as _, Read as _};

use super::Exit;
use super::render::{Failure, Screen};

/// Bytes of a line that can be a yes.
const MAX_ANSWER: u64 = 64;

/// Whether there is somebody to ask: at a terminal that shows standard error and gives
/// standard input.
pub fn can_ask(screen: Screen) -> bool {
    screen.err_is_terminal() && io::stdin().is_terminal()
}

/// Asks; `done` says what was not done after a no.
pub fn ask(question: &str, done: &str, screen: Screen) -> Result<(), Failure> {
    screen.note_raw(&format!("{} [y/N] ", screen.guest_err(question)));
    match answer(&mut io::stdin().lock()) {
        Answer::Yes => Ok(()),
        Answer::No { is_end } => {
            if is_end {
                screen.note_raw("\n");
            }
            Err(Failure::new(Exit::Denied, done).cause("nobody agreed to it"))
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No {
        /// Whether no line came that would have ended the question's.
        is_end: bool,
    },
}

fn answer(input: &mut impl BufRead) -> Answer {
    let mut line = Vec::new();
    let read = input.take(MAX_ANSWER).read_until(b'\n', &mut line);
    let said = String::from_utf8_lossy(&line).trim().to_ascii_lowercase();
    let is_end = !line.ends_with(b"\n");
    if read.is_ok() && !is_end && matches!(said.as_str(), "y" | "yes") {
        Answer::Yes
    } else {
        Answer::No { is_end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_says_yes_is_a_yes() {
        for yes in ["y\n", "Y\n", "yes\r\n", " Yes \n", "y\nn\n"] {
            assert_eq!(answer(&mut yes.as_bytes()), Answer::Yes, "{yes:?}");
        }
        let long = format!("y{}\n", " ".repeat(100));
        for (no, is_end) in [
            ("", true),
            ("\n", false),
            ("n\n", false),
            ("no\n", false),
            ("yep\n", false),
            ("y es\n", false),
            ("y", true),
            ("\ny\n", false),
            (long.as_str(), true),
        ] {
            assert_eq!(answer(&mut no.as_bytes()), Answer::No { is_end }, "{no:?}");
        }
    }
}

//! Standard input in lines.
//!
//! Invariant: never more is kept than one line may have, and what was read beyond it at
//! once. A read that is given up loses nothing.

use std::io;
use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::super::wire::HEAD;

/// Bytes that are read at once: what a pipe holds.
const PIECE: usize = 64 << 10;
/// Room that is kept for the next line.
const KEPT: usize = 1 << 20;

/// Lines of bytes.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the line begins that is being read.
    start: usize,
    /// Up to where it has no end.
    searched: usize,
    /// Bytes that a line may have.
    most: usize,
    /// Its beginning was told already, and the rest is still to come.
    skipping: bool,
    ended: bool,
}

/// The next of a line's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line, without its end. It is the next one until it is [done](Lines::done).
    Whole(Range<usize>),
    /// The beginning of a line that has more bytes than one may have.
    TooLong(Vec<u8>),
    /// The input has ended.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(input: R, most: usize) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            most,
            skipping: false,
            ended: false,
        }
    }

    /// The next line. What stands before the end of the input without an end of its own is
    /// one, too.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            if let Some(line) = self.find() {
                return Ok(line);
            }
            if self.ended {
                let rest = self.start..self.buffer.len();
                let is_line = !rest.is_empty() && !self.skipping;
                return Ok(if is_line {
                    Line::Whole(rest)
                } else {
                    Line::End
                });
            }
            self.read().await?;
        }
    }

    /// Bytes of the line.
    pub fn bytes(&self, line: &Range<usize>) -> &[u8] {
        &self.buffer[line.clone()]
    }

    /// Goes on to the line behind this one.
    pub fn done(&mut self, line: &Range<usize>) {
        self.start = (line.end + 1).min(self.buffer.len());
        self.searched = self.start;
        if self.start == self.buffer.len() {
            self.forget();
        }
    }

    /// Whether nothing was read of a line behind those that are done.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Looks for the end of a line in what was read.
    fn find(&mut self) -> Option<Line> {
        let rest = &self.buffer[self.searched..];
        let end = rest.iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| self.searched + end) else {
            self.searched = self.buffer.len();
            if self.skipping {
                self.forget();
                return None;
            }
            return (self.searched - self.start > self.most).then(|| {
                let head = self.head(self.searched);
                self.skipping = true;
                self.forget();
                head
            });
        };
        self.searched = end;
        if std::mem::take(&mut self.skipping) {
            self.done(&(end..end));
            return self.find();
        }
        if end - self.start > self.most {
            let head = self.head(end);
            self.done(&(end..end));
            return Some(head);
        }
        Some(Line::Whole(self.start..end))
    }

    fn head(&self, end: usize) -> Line {
        let end = end.min(self.start + HEAD);
        Line::TooLong(self.buffer[self.start..end].to_vec())
    }

    /// Begins with an empty buffer, which is not larger than lines usually are.
    fn forget(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        (self.start, self.searched) = (0, 0);
    }

    async fn read(&mut self) -> io::Result<()> {
        if self.start >= PIECE {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.reserve(PIECE);
        self.ended = self.input.read_buf(&mut self.buffer).await? == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// All lines of an input that comes in pieces; those that are too long in brackets.
    fn lines(pieces: &[&[u8]], most: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        runtime.block_on(async {
            let (mut into, from) = tokio::io::duplex(1 << 20);
            let mut lines = Lines::new(from, most);
            let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
            let writing = tokio::spawn(async move {
                for piece in pieces {
                    into.write_all(&piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
            });
            let mut found = Vec::new();
            loop {
                match lines.next().await.unwrap() {
                    Line::Whole(line) => {
                        found.push(String::from_utf8_lossy(lines.bytes(&line)).into_owned());
                        lines.done(&line);
                    }
                    Line::TooLong(head) => {
                        found.push(format!("[{}]", String::from_utf8_lossy(&head)));
                    }
                    Line::End => break,
                }
            }
            writing.await.unwrap();
            found
        })
    }

    #[test]
    fn lines_are_put_together_from_pieces_and_taken_apart() {
        let found = lines(&[b"one\ntw", b"o\n", b"\n", b"three\r\nfour"], 100);
        assert_eq!(found, ["one", "two", "", "three\r", "four"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_the_next_one_is_whole() {
        let pieces: [&[u8]; 5] = [
            b"12345678",
            b"9012345",
            b"67\nnext\n",
            b"abcdefghij\nx",
            b"\n",
        ];
        assert_eq!(
            lines(&pieces, 9),
            ["[123456789012345]", "next", "[abcdefghij]", "x"]
        );
        // Its end never comes.
        assert_eq!(lines(&[b"1234567890", b"1"], 9), ["[1234567890]"]);
    }

    #[test]
    fn a_long_line_leaves_no_large_buffer_behind() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        runtime.block_on(async {
            let long = vec![b'x'; 8 << 20];
            let mut lines = Lines::new(&long[..], 1 << 20);
            assert!(matches!(lines.next().await.unwrap(), Line::TooLong(_)));
            assert!(lines.buffer.capacity() <= 2 * KEPT);
            assert_eq!(lines.next().await.unwrap(), Line::End);
        });
    }

    proptest! {
        #[test]
        fn no_cut_between_pieces_changes_a_line(
            written in proptest::collection::vec("[a-z]{0,12}", 1..20),
            cuts in proptest::collection::vec(1_usize..20, 1..10),
        ) {
            let text = written.join("\n") + "\n";
            let mut pieces = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, behind) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = behind;
            }
            prop_assert_eq!(lines(&pieces, 100), written);
        }
    }
}

//! The whole of answers that were cut, until clients have read them.
//!
//! Invariant: bounded in bytes, in number and in time, the oldest first out; nobody reads
//! one who was not told its address, since that can not be guessed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What addresses of answers begin with.
pub(in crate::mcp) const PREFIX: &str = "prx-host://result/";

/// How much is kept.
#[derive(Clone, Copy)]
struct Bounds {
    bytes: usize,
    answers: usize,
    time: Duration,
}

const BOUNDS: Bounds = Bounds {
    bytes: 64 << 20,
    answers: 1_024,
    time: Duration::from_hours(1),
};

/// The answers of a server.
pub(in crate::mcp) struct Kept {
    bounds: Bounds,
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    texts: HashMap<String, Arc<str>>,
    order: VecDeque<(Instant, String)>,
    bytes: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            bounds: BOUNDS,
            answers: Mutex::default(),
        }
    }
}

impl Kept {
    /// Keeps a text; its address. `None`: it can not be kept.
    pub fn keep(&self, text: &str) -> Option<String> {
        if text.len() > self.bounds.bytes {
            return None;
        }
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).ok()?;
        let uri = format!("{PREFIX}{:032x}", u128::from_be_bytes(random));
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.bytes += text.len();
        answers.texts.insert(uri.clone(), text.into());
        answers.order.push_back((Instant::now(), uri.clone()));
        answers.drop_what_exceeds(self.bounds);
        Some(uri)
    }

    /// The text of that address; `None`: it is not kept, or not any more.
    pub fn read(&self, uri: &str) -> Option<Arc<str>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.drop_what_exceeds(self.bounds);
        answers.texts.get(uri).cloned()
    }
}

impl Answers {
    fn drop_what_exceeds(&mut self, bounds: Bounds) {
        while let Some((since, _)) = self.order.front() {
            let is_within = self.bytes <= bounds.bytes
                && self.order.len() <= bounds.answers
                && since.elapsed() <= bounds.time;
            if is_within {
                return;
            }
            let oldest = self.order.pop_front();
            if let Some(text) = oldest.and_then(|(_, uri)| self.texts.remove(&uri)) {
                self.bytes -= text.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bounds: Bounds) -> Kept {
        Kept {
            bounds,
            answers: Mutex::default(),
        }
    }

    #[test]
    fn the_oldest_goes_first_when_there_are_too_many_bytes_or_answers() {
        for bounds in [
            Bounds {
                bytes: 20,
                ..BOUNDS
            },
            Bounds {
                answers: 2,
                ..BOUNDS
            },
        ] {
            let kept = kept(bounds);
            let uris: Vec<String> = ["a", "b", "c"]
                .iter()
                .map(|letter| kept.keep(&letter.repeat(10)).unwrap())
                .collect();
            assert_eq!(kept.read(&uris[0]), None);
            assert_eq!(kept.read(&uris[1]).as_deref(), Some("bbbbbbbbbb"));
            assert_eq!(kept.read(&uris[2]).as_deref(), Some("cccccccccc"));
        }
    }

    #[test]
    fn what_is_too_old_or_too_large_is_not_there() {
        let old = kept(Bounds {
            time: Duration::ZERO,
            ..BOUNDS
        });
        let uri = old.keep("a").unwrap();
        while old.read(&uri).is_some() {}
        let small = kept(Bounds { bytes: 3, ..BOUNDS });
        assert_eq!(small.keep("aaaa"), None);
    }

    #[test]
    fn addresses_differ_and_are_long() {
        let kept = kept(BOUNDS);
        let (one, two) = (kept.keep("a").unwrap(), kept.keep("a").unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), PREFIX.len() + 32);
    }
}

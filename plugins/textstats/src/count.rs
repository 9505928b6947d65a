//! Measures a text. Pure: the same text and options always give the same answer.

use std::collections::{BTreeMap, BTreeSet};

use prx_skill::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

/// What to measure besides the plain counts.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many of the most frequent words to list.
    pub top: usize,
    /// Words shorter than this many characters are not listed.
    pub min_length: usize,
    /// Words that are not listed, in any case of letters.
    pub ignore: Vec<String>,
    /// How fast the reader is.
    pub words_per_minute: u32,
}

/// The measures of one text.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextStats {
    /// Words, as Unicode divides text into words. Numbers count; punctuation does not.
    pub words: usize,
    /// Different words, upper and lower case taken as one.
    pub unique_words: usize,
    /// Sentences that hold at least one word.
    pub sentences: usize,
    /// Lines; a line break at the very end begins no new one.
    pub lines: usize,
    /// Blocks of lines that are separated by blank lines.
    pub paragraphs: usize,
    /// Characters as a reader sees them: an emoji or an accented letter is one.
    pub characters: usize,
    /// The same without white space.
    pub characters_without_spaces: usize,
    /// Bytes in UTF-8.
    pub bytes: usize,
    /// How long reading takes, in seconds, rounded up.
    pub reading_time_seconds: u64,
    /// The most frequent words, most frequent first, then by alphabet.
    pub frequent_words: Vec<WordCount>,
}

/// A word and how often it occurs.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordCount {
    /// The word in lower case.
    pub word: String,
    /// Its occurrences.
    pub count: usize,
}

/// Measures `text`.
pub fn measure(text: &str, options: &Options) -> TextStats {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut words = 0;
    for word in text.unicode_words() {
        words += 1;
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    let mut characters = 0;
    let mut characters_without_spaces = 0;
    for character in text.graphemes(true) {
        characters += 1;
        if !character.chars().all(char::is_whitespace) {
            characters_without_spaces += 1;
        }
    }
    TextStats {
        words,
        unique_words: counts.len(),
        sentences: text.unicode_sentences().count(),
        lines: text.lines().count(),
        paragraphs: paragraphs(text),
        characters,
        characters_without_spaces,
        bytes: text.len(),
        reading_time_seconds: reading_time_seconds(words, options.words_per_minute),
        frequent_words: frequent(counts, options),
    }
}

fn paragraphs(text: &str) -> usize {
    let mut paragraphs = 0;
    let mut inside = false;
    for line in text.lines() {
        let blank = line.trim().is_empty();
        if !blank && !inside {
            paragraphs += 1;
        }
        inside = !blank;
    }
    paragraphs
}

fn reading_time_seconds(words: usize, words_per_minute: u32) -> u64 {
    (words as u64 * 60).div_ceil(u64::from(words_per_minute.max(1)))
}

fn frequent(counts: BTreeMap<String, usize>, options: &Options) -> Vec<WordCount> {
    let ignored: BTreeSet<String> = options
        .ignore
        .iter()
        .map(|word| word.to_lowercase())
        .collect();
    let mut listed: Vec<WordCount> = counts
        .into_iter()
        .filter(|(word, _)| word.graphemes(true).count() >= options.min_length)
        .filter(|(word, _)| !ignored.contains(word))
        .map(|(word, count)| WordCount { word, count })
        .collect();
    // The map gave them by alphabet, and the sort keeps that among equals.
    listed.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    listed.truncate(options.top);
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            top: 10,
            min_length: 1,
            ignore: Vec::new(),
            words_per_minute: 200,
        }
    }

    fn listed(text: &str, options: &Options) -> Vec<(String, usize)> {
        let words = measure(text, options).frequent_words;
        words
            .into_iter()
            .map(|entry| (entry.word, entry.count))
            .collect()
    }

    #[test]
    fn an_empty_text_has_nothing_of_anything() {
        let stats = measure("", &options());
        assert_eq!(
            stats,
            TextStats {
                words: 0,
                unique_words: 0,
                sentences: 0,
                lines: 0,
                paragraphs: 0,
                characters: 0,
                characters_without_spaces: 0,
                bytes: 0,
                reading_time_seconds: 0,
                frequent_words: Vec::new(),
            }
        );
    }

    #[test]
    fn an_ordinary_text_is_counted() {
        let stats = measure(
            "The cat sat. The dog didn't!\n\nAnd 3.5 birds?\n",
            &options(),
        );
        assert_eq!((stats.words, stats.unique_words), (9, 8));
        assert_eq!((stats.sentences, stats.lines, stats.paragraphs), (3, 3, 2));
        assert_eq!(
            (stats.characters, stats.characters_without_spaces),
            (45, 35)
        );
        assert_eq!(stats.bytes, 45);
        assert_eq!(
            stats.frequent_words[0],
            WordCount {
                word: "the".into(),
                count: 2
            }
        );
    }

    #[test]
    fn what_a_reader_sees_as_one_character_counts_once() {
        // A family of four, a flag, an e with a combining accent, a precomposed e.
        let text = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}\u{1F1E9}\u{1F1EA}e\u{301}\u{e9}";
        let stats = measure(text, &options());
        assert_eq!(stats.characters, 4);
        assert_eq!(stats.bytes, text.len());
    }

    #[test]
    fn words_without_spaces_between_them_are_found() {
        assert!(measure("\u{65e5}\u{672c}\u{8a9e}", &options()).words > 1);
    }

    #[test]
    fn windows_line_ends_count_as_one_break() {
        let stats = measure("a\r\nb\r\n\r\nc", &options());
        assert_eq!((stats.lines, stats.paragraphs), (4, 2));
    }

    #[test]
    fn equally_frequent_words_come_by_alphabet() {
        let found = listed("b a c B a d", &options());
        let expected = [("a", 2), ("b", 2), ("c", 1), ("d", 1)];
        assert_eq!(
            found,
            expected.map(|(word, count)| (word.to_owned(), count))
        );
    }

    #[test]
    fn short_and_ignored_words_are_not_listed_but_still_counted() {
        let options = Options {
            min_length: 3,
            ignore: vec!["THE".into()],
            ..options()
        };
        let text = "the \u{fc}ber of the \u{fc}ber";
        assert_eq!(listed(text, &options), [("\u{fc}ber".to_owned(), 2)]);
        assert_eq!(measure(text, &options).words, 5);
    }

    #[test]
    fn no_more_words_are_listed_than_asked_for() {
        assert_eq!(
            listed(
                "a b c d",
                &Options {
                    top: 2,
                    ..options()
                }
            )
            .len(),
            2
        );
        assert!(
            listed(
                "a b c d",
                &Options {
                    top: 0,
                    ..options()
                }
            )
            .is_empty()
        );
    }

    #[test]
    fn reading_time_is_rounded_up_to_whole_seconds() {
        assert_eq!(reading_time_seconds(0, 200), 0);
        assert_eq!(reading_time_seconds(1, 200), 1);
        assert_eq!(reading_time_seconds(200, 200), 60);
        assert_eq!(reading_time_seconds(201, 200), 61);
        assert_eq!(reading_time_seconds(1, 0), 60);
    }
}

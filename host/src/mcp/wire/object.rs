//! The members of one JSON object, as the texts that they are.
//!
//! Invariant: a member is told only after its whole text was read as JSON, in one pass that
//! keeps nothing and needs no stack, whatever it holds.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// A text that is no JSON object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoObject;

/// Tells each member of an object: its key, and its value as it was written. What stands
/// before a fault is told, too.
pub(super) fn members<'a>(
    text: &'a str,
    mut tell: impl FnMut(Cow<'a, str>, &'a str),
) -> Result<(), NoObject> {
    let mut rest = Rest { text, at: 0 };
    rest.expect(b'{')?;
    if rest.take(b'}') {
        return rest.end();
    }
    loop {
        let key = string(rest.value()?).ok_or(NoObject)?;
        rest.expect(b':')?;
        tell(key, rest.value()?);
        if !rest.take(b',') {
            rest.expect(b'}')?;
            return rest.end();
        }
    }
}

/// What a JSON string says; `None`: the text is none, or has half a character.
pub(super) fn string(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(text).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// A text, and up to where it was read.
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn skip_space(&mut self) {
        let rest = self.text.as_bytes()[self.at..].iter();
        self.at += rest
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
            .count();
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), NoObject> {
        self.take(byte).then_some(()).ok_or(NoObject)
    }

    fn end(&mut self) -> Result<(), NoObject> {
        self.skip_space();
        (self.at == self.text.len()).then_some(()).ok_or(NoObject)
    }

    fn value(&mut self) -> Result<&'a str, NoObject> {
        self.skip_space();
        let rest = &self.text[self.at..];
        if let Some(text) = plain_string(rest) {
            self.at += text.len();
            return Ok(text);
        }
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(IgnoredAny)) => {
                let value = &rest[..values.byte_offset()];
                self.at += value.len();
                Ok(value)
            }
            _ => Err(NoObject),
        }
    }
}

/// The string that a text begins with, if it has no escapes: nearly all have none.
fn plain_string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.as_bytes();
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    let end = inner.iter().position(is_end)?;
    (inner[end] == b'"').then(|| &text[..end + 2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    fn told(text: &str) -> (Vec<(String, String)>, bool) {
        let mut told = Vec::new();
        let tell = |key: Cow<'_, str>, value: &str| told.push((key.into_owned(), value.to_owned()));
        let ended = members(text, tell);
        (told, ended.is_ok())
    }

    #[test]
    fn members_are_told_as_they_were_written() {
        let (found, whole) =
            told(" {\"a\" : [1, {\"b\":2}],\r\n\"\\u0062\":\"x\\\"}\" , \"c\":-1e400}\n");
        assert!(whole);
        let expected = [
            ("a", "[1, {\"b\":2}]"),
            ("b", "\"x\\\"}\""),
            ("c", "-1e400"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_stands_before_a_fault_is_told_and_the_fault_is_known() {
        for text in [
            "",
            "{",
            "}",
            "[]",
            "null",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":1}}",
            "{\"a\":tru}",
            "{a:1}",
            "{\"a\":01}",
        ] {
            assert!(!told(text).1, "{text}");
        }
        let (found, whole) = told("{\"id\":7,\"params\":{\"text\":\"abc");
        assert!(!whole);
        assert_eq!(found, [("id".to_owned(), "7".to_owned())]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = format!(
            "{{\"a\":{}{}}}",
            "[".repeat(1_000_000),
            "]".repeat(1_000_000)
        );
        assert!(told(&text).1);
    }

    proptest! {
        #[test]
        fn objects_are_read_as_serde_json_reads_them(
            keys in proptest::collection::btree_set("[ -~\u{e9}]{0,8}", 0..6),
            text in "[ -~\u{e9}\n]{0,30}",
        ) {
            let value = json!([text, { "deep": text }, 1.5, null, true]);
            let object: Map<String, Value> = keys.into_iter().map(|key| (key, value.clone())).collect();
            let (found, whole) = told(&serde_json::to_string_pretty(&object).unwrap());
            prop_assert!(whole);
            let found: Map<String, Value> = found
                .into_iter()
                .map(|(key, value)| (key, serde_json::from_str(&value).unwrap()))
                .collect();
            prop_assert_eq!(found, object);
        }
    }
}

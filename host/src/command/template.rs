//! One entry of `args`: literal text and the places that values fill.
//!
//! * `{name}` is the argument `name`; a value that would begin the entry with `-` is refused
//!   unless `--` stands before it or the entry follows an option in a group of its own.
//! * `{-name}` is the same, and may begin with `-`.
//! * `{name?text}`, alone in its entry, is `text` when the boolean `name` is true.
//! * `{{name}}` is the text `{name}`.
//!
//! Everything else in braces is text, so that the languages of other programs pass.

use std::fmt;

/// Arguments that stand and fall together: a list within `args`, or a single entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentGroup(pub Vec<Piece>);

impl ArgumentGroup {
    /// The parameters in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(Piece::names)
    }
}

/// One argument, not yet filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    source: String,
    pub(super) parts: Vec<Part>,
}

/// What an argument consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text of the operator.
    Text(String),
    /// A value of the call.
    Value {
        name: String,
        /// Whether the entry may begin with `-` because of it.
        may_be_option: bool,
    },
    /// Text of the operator, if a boolean of the call is true.
    Flag { name: String, text: String },
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Piece {
    /// Reads an entry. There is no wrong one: what is no place for a value is text.
    pub fn parse(source: &str) -> Self {
        let parts = flag(source).map_or_else(|| parts(source), |flag| vec![flag]);
        Self {
            source: source.to_owned(),
            parts,
        }
    }

    /// The parameters in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value { name, .. } | Part::Flag { name, .. } => Some(name.as_str()),
        })
    }

    /// The boolean that decides over it, if it is a flag.
    pub fn flag(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Flag { name, .. }] => Some(name),
            _ => None,
        }
    }

    /// The text with its places filled; one without a value is left empty.
    pub fn text_with<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let parts = self.parts.iter();
        let parts = parts.map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Value { name, .. } => value(name).unwrap_or_default(),
            Part::Flag { name, text } if value(name) == Some("true") => text,
            Part::Flag { .. } => "",
        });
        parts.collect()
    }

    /// Its text, if no value is in it.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Whether a parameter can stand in a template.
pub(super) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn flag(source: &str) -> Option<Part> {
    let (name, text) = source
        .strip_prefix('{')?
        .strip_suffix('}')?
        .split_once('?')?;
    is_name(name).then(|| Part::Flag {
        name: name.to_owned(),
        text: text.to_owned(),
    })
}

fn parts(source: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, after)) = braced(rest, "{{", "}}") {
            text.extend(["{", name, "}"]);
            rest = after;
        } else if let Some((name, after)) = braced(rest, "{", "}") {
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            let bare = name.strip_prefix('-');
            parts.push(Part::Value {
                name: bare.unwrap_or(name).to_owned(),
                may_be_option: bare.is_some(),
            });
            rest = after;
        } else {
            text.push('{');
            rest = &rest[1..];
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// What stands between the braces at the beginning, if it is a name, and what follows.
fn braced<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let (name, after) = text.strip_prefix(open)?.split_once(close)?;
    is_name(name.strip_prefix('-').unwrap_or(name)).then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Part {
        Part::Value {
            name: name.into(),
            may_be_option: false,
        }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.into())
    }

    #[test]
    fn places_for_values_are_told_from_text() {
        for (source, expected) in [
            ("", vec![]),
            ("check", vec![text("check")]),
            ("{path}", vec![value("path")]),
            (
                "--out={dir}/{name}.txt",
                vec![
                    text("--out="),
                    value("dir"),
                    text("/"),
                    value("name"),
                    text(".txt"),
                ],
            ),
            (
                "{verbose?--verbose}",
                vec![Part::Flag {
                    name: "verbose".into(),
                    text: "--verbose".into(),
                }],
            ),
            (
                "{-args}",
                vec![Part::Value {
                    name: "args".into(),
                    may_be_option: true,
                }],
            ),
        ] {
            assert_eq!(Piece::parse(source).parts, expected, "{source}");
        }
    }

    #[test]
    fn languages_of_other_programs_pass() {
        for (source, expected) in [
            ("{}", "{}"),
            ("{ .a }", "{ .a }"),
            ("{\"a\": {b}", "{\"a\": {b}"),
            ("{{.Names}}", "{{.Names}}"),
            ("{{path}}", "{path}"),
            ("awk '{print $1}'", "awk '{print $1}'"),
            ("{", "{"),
            ("}", "}"),
            ("{1}", "{1}"),
        ] {
            let piece = Piece::parse(source);
            if source == "{\"a\": {b}" {
                assert_eq!(piece.names().collect::<Vec<_>>(), ["b"]);
            } else {
                assert_eq!(piece.literal(), Some(expected), "{source}");
            }
        }
    }
}

//! Addresses with places for values: the simple expansions of RFC 6570, its level 1.
//!
//! Invariant: a value never holds what separates the parts of an address unless it was
//! percent-encoded, so that no value reaches beyond its place.

use std::fmt;

use percent_encoding::percent_decode_str;

/// Characters of an address that is looked at; longer ones match nothing.
const MAX_LENGTH: usize = 8 << 10;

/// An absolute URI in which `{name}` stands for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
}

/// Why a text is no template of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriTemplateError {
    /// It is no absolute URI.
    #[error("it does not begin with a scheme")]
    NoScheme,
    /// A character that no address has.
    #[error("it contains {0:?}, which an address has percent-encoded")]
    Character(char),
    /// Braces that do not pair.
    #[error("its braces do not pair")]
    Braces,
    /// What stands in braces is no name.
    #[error("`{{{0}}}` is no place for a value: a name has letters, digits and `_`")]
    Name(String),
    /// One value would stand twice.
    #[error("`{{{0}}}` stands in it twice")]
    Twice(String),
    /// Nothing tells where the first ends.
    #[error("nothing stands between `{{{0}}}` and `{{{1}}}`")]
    Adjacent(String, String),
}

impl UriTemplate {
    /// Reads a template.
    pub fn parse(source: &str) -> Result<Self, UriTemplateError> {
        let scheme = source.split_once(':').map_or("", |(scheme, _)| scheme);
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(letter) {
            return Err(UriTemplateError::NoScheme);
        }
        let odd = |c: &char| {
            !c.is_ascii_graphic() || matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '|')
        };
        if let Some(odd) = source.chars().find(odd) {
            return Err(UriTemplateError::Character(odd));
        }
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some((text, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or(UriTemplateError::Braces)?;
            push_text(&mut parts, text)?;
            push_value(&mut parts, name)?;
            rest = after;
        }
        push_text(&mut parts, rest)?;
        Ok(Self {
            source: source.to_owned(),
            parts,
        })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The names of its values; none: it is an address itself.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(name) => Some(name.as_str()),
        })
    }

    /// The values that make this address of the template; `None`: none do.
    pub fn values(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        if uri.len() > MAX_LENGTH {
            return None;
        }
        let (mut rest, mut parts, mut values) = (uri, self.parts.as_slice(), Vec::new());
        loop {
            parts = match parts {
                [] => return rest.is_empty().then_some(values),
                [Part::Text(text), after @ ..] => {
                    rest = rest.strip_prefix(text.as_str())?;
                    after
                }
                [Part::Value(name)] => {
                    values.push((name.as_str(), value(rest)?));
                    return Some(values);
                }
                [Part::Value(name), Part::Text(text)] => {
                    values.push((name.as_str(), value(rest.strip_suffix(text.as_str())?)?));
                    return Some(values);
                }
                [Part::Value(name), after @ ..] => {
                    let [Part::Text(text), ..] = after else {
                        return None;
                    };
                    // The first place is the right one: what follows may hold it again. A
                    // value is not empty.
                    let skipped = rest.chars().next()?.len_utf8();
                    let end = skipped + rest.get(skipped..)?.find(text.as_str())?;
                    values.push((name.as_str(), value(&rest[..end])?));
                    rest = &rest[end..];
                    after
                }
            };
        }
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) -> Result<(), UriTemplateError> {
    if text.contains('}') {
        return Err(UriTemplateError::Braces);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
    Ok(())
}

fn push_value(parts: &mut Vec<Part>, name: &str) -> Result<(), UriTemplateError> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(UriTemplateError::Name(name.to_owned()));
    }
    let value = Part::Value(name.to_owned());
    if parts.contains(&value) {
        return Err(UriTemplateError::Twice(name.to_owned()));
    }
    if let Some(Part::Value(before)) = parts.last() {
        return Err(UriTemplateError::Adjacent(before.clone(), name.to_owned()));
    }
    parts.push(value);
    Ok(())
}

/// A value, decoded. An address separates its parts with what a value has encoded.
fn value(encoded: &str) -> Option<String> {
    if encoded.is_empty() || encoded.contains(['/', '?', '#']) {
        return None;
    }
    let decoded = percent_decode_str(encoded).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = UriTemplate::parse(template).unwrap();
        let values = template.values(uri)?.into_iter();
        Some(
            values
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    #[test]
    fn values_are_taken_from_their_places_and_decoded() {
        for (template, uri, expected) in [
            ("wiki://page/{id}", "wiki://page/7", vec![("id", "7")]),
            (
                "wiki://page/{id}",
                "wiki://page/a%20b%2Fc%C3%A9",
                vec![("id", "a b/c\u{e9}")],
            ),
            (
                "x://{a}-{b}/end",
                "x://1-2-3/end",
                vec![("a", "1"), ("b", "2-3")],
            ),
            ("x://one", "x://one", vec![]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            assert_eq!(values(template, uri), Some(expected), "{uri}");
        }
    }

    #[test]
    fn a_value_does_not_reach_beyond_its_place() {
        for (template, uri) in [
            ("wiki://page/{id}", "wiki://page/"),
            ("wiki://page/{id}", "wiki://page/a/b"),
            ("wiki://page/{id}", "wiki://page/a?b"),
            ("wiki://page/{id}", "wiki://pages/a"),
            ("wiki://page/{id}", "wiki://page/%ff"),
            ("wiki://page/{id}/x", "wiki://page/a/y"),
            ("x://{a}-{b}", "x://-2"),
        ] {
            assert_eq!(values(template, uri), None, "{uri}");
        }
        let long = format!("wiki://page/{}", "a".repeat(10_000));
        assert_eq!(values("wiki://page/{id}", &long), None);
    }

    #[test]
    fn texts_that_are_no_templates_are_refused() {
        for (text, error) in [
            ("page/{id}", UriTemplateError::NoScheme),
            ("", UriTemplateError::NoScheme),
            ("x://a b", UriTemplateError::Character(' ')),
            ("x://{a", UriTemplateError::Braces),
            ("x://a}", UriTemplateError::Braces),
            ("x://{+a}", UriTemplateError::Name("+a".into())),
            ("x://{}", UriTemplateError::Name(String::new())),
            ("x://{a}/{a}", UriTemplateError::Twice("a".into())),
            (
                "x://{a}{b}",
                UriTemplateError::Adjacent("a".into(), "b".into()),
            ),
        ] {
            assert_eq!(UriTemplate::parse(text), Err(error), "{text}");
        }
    }
}

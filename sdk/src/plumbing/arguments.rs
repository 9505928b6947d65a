//! From the JSON text of a call to an author's arguments, with errors that name the
//! argument. The host has validated the text already; this is the last line, and the
//! only one in native tests.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::numbers;
use crate::error::ToolError;

/// Decodes the arguments of a call: one JSON object.
///
/// Whole numbers up to 2^53 may have a fraction of zero or an exponent where an integer is
/// wanted. An argument that does not decode as it is written is read once more with these
/// numbers, and no others, as integers; all other arguments stay as they are.
///
/// # Errors
///
/// Kind `invalid-arguments`, naming the argument at fault.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, ToolError> {
    let mut written = Cow::Borrowed(text);
    loop {
        match decode_as_written(&written) {
            Ok(arguments) => return Ok(arguments),
            Err((place, error)) => written = Cow::Owned(anew(&written, &place, &error)?),
        }
    }
}

/// The text to read instead of one that did not decode, or what is wrong with it.
fn anew(text: &str, place: &Place, error: &serde_json::Error) -> Result<String, ToolError> {
    // Not by the error's category: a parser for `i128` calls a fraction a syntax error.
    if let Err(syntax) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(no_json(&syntax));
    }
    // Types of fixed names have few; a map may have any number, to be mended at once.
    let alone = place.argument.as_deref().filter(|_| place.is_of_struct);
    numbers::with_integers(text, alone).ok_or_else(|| invalid(place.argument.as_deref(), error))
}

fn decode_as_written<T: DeserializeOwned>(text: &str) -> Result<T, (Place, serde_json::Error)> {
    let mut place = Place::default();
    let mut json = serde_json::Deserializer::from_str(text);
    T::deserialize(Tracked {
        inner: &mut json,
        place: &mut place,
    })
    .and_then(|arguments| json.end().map(|()| arguments))
    .map_err(|error| (place, error))
}

fn no_json(error: &serde_json::Error) -> ToolError {
    ToolError::invalid_arguments(format!("the arguments are not valid JSON: {error}"))
}

fn invalid(argument: Option<&str>, error: &serde_json::Error) -> ToolError {
    if !error.is_data() {
        return no_json(error);
    }
    let text = error.to_string();
    // A place in a text that the caller may never have seen as text helps nobody.
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(what, _)| what);
    let text = numbers::no_integer(text).map_or(Cow::Borrowed(text), Cow::Owned);
    ToolError::invalid_arguments(match argument {
        Some(name) => format!("argument `{name}`: {text}"),
        None => format!("arguments: {}", text.replace(" field `", " argument `")),
    })
}

/// Which value is being read.
#[derive(Default)]
struct Place {
    argument: Option<String>,
    /// Its type has fixed names.
    is_of_struct: bool,
}

/// The names that a struct takes, if it takes no others: a misspelt optional argument
/// must not go unnoticed, whether or not the author thought of `deny_unknown_fields`.
type Known = Option<&'static [&'static str]>;

/// A deserializer of one object that remembers which value it is reading.
struct Tracked<'a, D> {
    inner: D,
    place: &'a mut Place,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tracked<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = TrackedVisitor {
            visitor,
            place: self.place,
            known: None,
        };
        self.inner.deserialize_map(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = TrackedVisitor {
            visitor,
            place: self.place,
            known: Some(fields),
        };
        self.inner.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct TrackedVisitor<'a, V> {
    visitor: V,
    place: &'a mut Place,
    known: Known,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for TrackedVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(TrackedMap {
            inner: map,
            place: self.place,
            known: self.known,
        })
    }
}

struct TrackedMap<'a, A> {
    inner: A,
    place: &'a mut Place,
    known: Known,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for TrackedMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(name) = self.inner.next_key::<String>()? else {
            return Ok(None);
        };
        if let Some(known) = self.known.filter(|known| !known.contains(&name.as_str())) {
            return Err(A::Error::unknown_field(&name, known));
        }
        // Errors about the key itself name it already.
        let key = seed.deserialize(StrDeserializer::<A::Error>::new(&name))?;
        self.place.argument = Some(name);
        self.place.is_of_struct = self.known.is_some();
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.inner.next_value_seed(seed)?;
        self.place.argument = None;
        Ok(value)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

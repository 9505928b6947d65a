//! From the JSON text of a call to an author's arguments, with errors that name the
//! argument. The host has validated the text already; this is the last line, and the
//! only one in native tests.

use serde::de::value::StrDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::error::Category;

use crate::error::ToolError;

/// Decodes the arguments of a call: one JSON object.
///
/// # Errors
///
/// Kind `invalid-arguments`, naming the argument at fault.
pub fn decode<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ToolError> {
    let mut current = None;
    let mut json = serde_json::Deserializer::from_str(text);
    T::deserialize(Tracked {
        inner: &mut json,
        current: &mut current,
    })
    .and_then(|arguments| json.end().map(|()| arguments))
    .map_err(|error| invalid(current.as_deref(), &error))
}

fn invalid(argument: Option<&str>, error: &serde_json::Error) -> ToolError {
    let text = error.to_string();
    if error.classify() != Category::Data {
        return ToolError::invalid_arguments(format!("the arguments are not valid JSON: {text}"));
    }
    // A place in a text that the caller may never have seen as text helps nobody.
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(what, _)| what);
    ToolError::invalid_arguments(match argument {
        Some(name) => format!("argument `{name}`: {text}"),
        None => format!("arguments: {}", text.replace(" field `", " argument `")),
    })
}

/// The names that a struct takes, if it takes no others: a misspelt optional argument
/// must not go unnoticed, whether or not the author thought of `deny_unknown_fields`.
type Known = Option<&'static [&'static str]>;

/// A deserializer of one object that remembers which value it is reading.
struct Tracked<'a, D> {
    inner: D,
    current: &'a mut Option<String>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tracked<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = TrackedVisitor {
            visitor,
            current: self.current,
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
            current: self.current,
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
    current: &'a mut Option<String>,
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
            current: self.current,
            known: self.known,
        })
    }
}

struct TrackedMap<'a, A> {
    inner: A,
    current: &'a mut Option<String>,
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
        *self.current = Some(name);
        Ok(Some(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.inner.next_value_seed(seed)?;
        *self.current = None;
        Ok(value)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

//! The arguments of a call: one JSON object that fits the tool's schema.
//!
//! Invariant: the text that reaches a guest means the same to its parser as to ours. A
//! key that stands twice would not, so it is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::model::ArgumentFault;
use crate::schema::Validator;

/// Arguments that fit the tool's schema.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    /// As they came, for a guest.
    pub text: &'a str,
    /// As they were read.
    pub values: Map<String, Value>,
}

/// Reads and checks arguments. Absent ones and `null` are an empty object.
pub(super) fn check<'a>(
    text: &'a str,
    validator: &Validator,
) -> Result<Arguments<'a>, Vec<ArgumentFault>> {
    let trimmed = text.trim();
    let text = if trimmed.is_empty() || trimmed == "null" {
        "{}"
    } else {
        trimmed
    };
    let whole = |message: String| {
        vec![ArgumentFault {
            path: String::new(),
            message,
        }]
    };
    let value = parse(text).map_err(|error| whole(format!("not valid JSON: {error}")))?;
    if value.is_object() {
        validator.validate(&value)?;
    }
    match value {
        Value::Object(values) => Ok(Arguments { text, values }),
        other => Err(whole(format!(
            "the arguments must be a JSON object, not {}",
            kind(&other)
        ))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn parse(text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Builds a value as `serde_json` does, but refuses a key that stands twice.
#[derive(Clone, Copy)]
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key `{key}` stands twice"
                )));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_object() -> Validator {
        Validator::new(&json!({"type": "object"})).unwrap()
    }

    #[test]
    fn absent_arguments_are_an_empty_object() {
        for text in ["", "  ", "null", "{}", " {} \n"] {
            assert_eq!(check(text, &any_object()).unwrap().text, "{}", "{text:?}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_reason() {
        let deep = "[".repeat(10_000);
        for (text, reason) in [
            ("[]", "not an array"),
            (r#""5""#, "not a string"),
            ("5", "not a number"),
            ("{", "not valid JSON"),
            (r#"{"a":1} {"b":2}"#, "not valid JSON"),
            (r#"{"a":1e400}"#, "not valid JSON"),
            (r#"{"a":"\ud800"}"#, "not valid JSON"),
            (r#"{"a":{"b":1,"b":2}}"#, "`b` stands twice"),
            (deep.as_str(), "not valid JSON"),
        ] {
            let faults = check(text, &any_object()).unwrap_err();
            assert!(
                faults[0].message.contains(reason),
                "{}: {faults:?}",
                &text[..text.len().min(40)]
            );
        }
    }

    proptest! {
        #[test]
        fn values_are_read_as_serde_json_reads_them(text in "[ -~]{0,40}", n in any::<f64>(), i in any::<i64>()) {
            let value = json!({"text": text, "list": [n, i, null, true, {"inner": text}]});
            prop_assert_eq!(parse(&value.to_string()).unwrap(), serde_json::from_str::<Value>(&value.to_string()).unwrap());
        }
    }
}

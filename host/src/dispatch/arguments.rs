//! The arguments of a call: one JSON object that fits the tool's schema.
//!
//! Invariant: the text that reaches a guest means the same to its parser as to ours. A
//! key that stands twice would not, so it is refused.

use serde_json::{Map, Value};

use crate::json::parse;
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

#[cfg(test)]
mod tests {
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
}

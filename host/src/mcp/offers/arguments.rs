//! Arguments that come as texts, for tools that take more than texts: from the address of a
//! resource, or from the arguments of a prompt.

use serde_json::{Number, Value};

/// The schema of one property.
pub(in crate::mcp) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

/// A text as the value that a property takes. What can not be one stays a text: the check
/// of the arguments says what is wrong with it.
pub(in crate::mcp) fn typed(property: Option<&Value>, text: String) -> Value {
    let value = match property.and_then(kind) {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text
            .parse::<f64>()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number),
        Some("boolean") => text.parse::<bool>().ok().map(Value::Bool),
        Some("array" | "object") => serde_json::from_str(&text).ok(),
        _ => None,
    };
    value.unwrap_or(Value::String(text))
}

/// The one type of a property, besides that it may be nothing.
fn kind(property: &Value) -> Option<&str> {
    match property.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null")
        }
        _ => None,
    }
}

/// The texts that a property takes, where these are few.
pub(in crate::mcp) fn choices(property: &Value) -> Vec<String> {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return values.iter().map(text_of).collect();
    }
    // As enumerations are written that say something of each of their values.
    let either = ["oneOf", "anyOf"].map(|key| property.get(key).and_then(Value::as_array));
    if let Some(either) = either.into_iter().flatten().next() {
        let values = either.iter().flat_map(|one| match one.get("const") {
            Some(value) => vec![text_of(value)],
            None => choices(one),
        });
        return values.collect();
    }
    match kind(property) {
        Some("boolean") => ["true", "false"].map(str::to_owned).into(),
        _ => Vec::new(),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_what_the_schema_asks_for() {
        for (kind, text, value) in [
            ("integer", "7", json!(7)),
            ("integer", "seven", json!("seven")),
            ("number", "0.5", json!(0.5)),
            ("number", "inf", json!("inf")),
            ("boolean", "true", json!(true)),
            ("array", "[1]", json!([1])),
            ("string", "7", json!("7")),
        ] {
            let property = json!({ "type": kind });
            assert_eq!(typed(Some(&property), text.into()), value, "{kind}: {text}");
        }
        assert_eq!(typed(None, "7".into()), json!("7"));
        let optional = json!({ "type": ["null", "integer"] });
        assert_eq!(typed(Some(&optional), "7".into()), json!(7));
    }

    #[test]
    fn few_values_are_known_beforehand() {
        assert_eq!(choices(&json!({ "enum": ["a", 1] })), ["a", "1"]);
        assert_eq!(choices(&json!({ "type": "boolean" })), ["true", "false"]);
        assert!(choices(&json!({ "type": "string" })).is_empty());
        let told = json!({ "oneOf": [{ "const": "a", "description": "A." }, { "enum": ["b"] }] });
        assert_eq!(choices(&told), ["a", "b"]);
        let optional = json!({ "type": ["boolean", "null"] });
        assert_eq!(choices(&optional), ["true", "false"]);
    }
}

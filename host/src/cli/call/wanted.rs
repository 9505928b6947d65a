//! What a tool's schema wants in one place: text as it stands, or JSON.
//!
//! Invariant: a schema comes from a module; references are followed a bounded number of
//! times and never out of it.

use serde_json::Value;

/// References that are followed one after the other.
const MAX_REFERENCES: usize = 16;
/// Sub-schemas that are looked at: one that combines itself with itself has no end.
const MAX_PARTS: usize = 1000;

/// What a property accepts, as far as it matters here; the stronger says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// The schema does not say.
    Anything,
    /// Something that is no text.
    OtherThanText,
    /// Text, perhaps among other things.
    Text,
}

impl Wanted {
    /// What the property of an object's schema accepts.
    pub fn of_property(schema: &Value, key: &str) -> Self {
        let property = resolved(schema, schema).and_then(|root| root.get("properties")?.get(key));
        let mut waiting: Vec<&Value> = property.into_iter().collect();
        let mut wanted = Self::Anything;
        for _ in 0..MAX_PARTS {
            let Some(part) = waiting.pop() else { break };
            let Some(part) = resolved(schema, part) else {
                continue;
            };
            wanted = wanted.max(Self::of_itself(part));
            for word in ["anyOf", "oneOf", "allOf"] {
                waiting.extend(list(part, word));
            }
        }
        wanted
    }

    /// What a schema says without the schemas that it combines.
    fn of_itself(schema: &Value) -> Self {
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().map(Self::named).collect(),
            Some(name) => vec![Self::named(name)],
            None => Vec::new(),
        };
        let values = list(schema, "enum").iter().chain(schema.get("const"));
        let all = types.into_iter().chain(values.map(Self::like));
        all.max().unwrap_or(Self::Anything)
    }

    fn named(name: &Value) -> Self {
        if name == "string" {
            Self::Text
        } else {
            Self::OtherThanText
        }
    }

    fn like(value: &Value) -> Self {
        if value.is_string() {
            Self::Text
        } else {
            Self::OtherThanText
        }
    }
}

/// The elements of a keyword that holds a list.
fn list<'a>(schema: &'a Value, word: &str) -> &'a [Value] {
    let list = schema.get(word).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// The schema behind references inside of the same document.
fn resolved<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_REFERENCES {
        match schema.get("$ref").and_then(Value::as_str) {
            None => return Some(schema),
            Some(target) => schema = root.pointer(target.strip_prefix('#')?)?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_combines_itself_with_itself_has_an_end() {
        let again = json!({ "$ref": "#/$defs/Endless" });
        let schema = json!({
            "properties": { "endless": again },
            "$defs": { "Endless": { "type": "integer", "anyOf": vec![again; 200] } },
        });
        assert_eq!(
            Wanted::of_property(&schema, "endless"),
            Wanted::OtherThanText
        );
    }
}

//! The sub-schemas of a JSON Schema: where they stand and what for. Values that only look
//! like schemas (`const`, `enum`, `default`, `examples`) are none.

use serde_json::{Map, Value};

/// Keywords with one schema.
const ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords with a list of schemas; `items` had one in older dialects.
const MANY: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords with schemas by name.
const NAMED: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// A sub-schema, and the keyword that it stands under.
pub(super) struct Part<'a> {
    /// JSON pointer from the root.
    pub pointer: String,
    /// Empty for the root.
    pub keyword: &'a str,
    pub schema: &'a Value,
}

/// Visits a schema and all its sub-schemas, the outer first.
pub(super) fn walk<'a>(schema: &'a Value, visit: &mut impl FnMut(&Part<'a>)) {
    descend(String::new(), "", schema, visit);
}

fn descend<'a>(
    pointer: String,
    keyword: &'a str,
    schema: &'a Value,
    visit: &mut impl FnMut(&Part<'a>),
) {
    let part = Part {
        pointer,
        keyword,
        schema,
    };
    visit(&part);
    for (key, value) in schema.as_object().into_iter().flatten() {
        let below = |name: &str| format!("{}/{key}/{}", part.pointer, escaped(name));
        match value {
            Value::Array(all) if MANY.contains(&key.as_str()) => {
                for (index, schema) in all.iter().enumerate() {
                    descend(below(&index.to_string()), key, schema, visit);
                }
            }
            Value::Object(all) if NAMED.contains(&key.as_str()) => {
                for (name, schema) in all.iter().filter(|(_, schema)| !schema.is_array()) {
                    descend(below(name), key, schema, visit);
                }
            }
            Value::Object(_) | Value::Bool(_) if ONE.contains(&key.as_str()) => {
                descend(format!("{}/{key}", part.pointer), key, value, visit);
            }
            _ => {}
        }
    }
}

/// Changes each direct sub-schema.
pub(super) fn each_below(schema: &mut Map<String, Value>, change: &mut impl FnMut(&mut Value)) {
    for (key, value) in schema.iter_mut() {
        match value {
            Value::Array(all) if MANY.contains(&key.as_str()) => {
                all.iter_mut().for_each(&mut *change);
            }
            Value::Object(all) if NAMED.contains(&key.as_str()) => {
                all.values_mut()
                    .filter(|schema| !schema.is_array())
                    .for_each(&mut *change);
            }
            Value::Object(_) if ONE.contains(&key.as_str()) => change(value),
            _ => {}
        }
    }
}

/// A name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

//! Schemas as the APIs of models want them: no references where there is a way, the dialect
//! of today, a plain object at the root.
//!
//! Invariant: the repaired schema fits whatever the author's fits, and nothing else, unless
//! something was left out; then it may fit more. The host holds every call against the
//! author's own schema, so nothing gets through that the author did not allow.

mod merge;
pub(super) mod references;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use self::merge::merge;
use super::walk::walk;

/// Keywords that APIs of models refuse at the root.
pub(super) const COMBINATORS: [&str; 9] = [
    "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const",
];
/// Keywords that mean something else, or nothing, in draft 7.
const NOT_OF_DRAFT_7: [&str; 14] = [
    "additionalItems",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "format",
    "maxContains",
    "minContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$defs",
];
/// Characters of a rule that is told in words.
const MOST_OF_A_RULE: usize = 500;

/// A schema, repaired.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Repaired {
    /// The schema.
    pub schema: Map<String, Value>,
    /// What could not be kept, as a schema of its own; `None`: it means the same as before.
    pub left_out: Option<Value>,
}

impl Repaired {
    /// What was left out, in a sentence for a model.
    pub fn sentence(&self) -> Option<String> {
        let rule = self.left_out.as_ref()?.to_string();
        Some(if rule.chars().count() <= MOST_OF_A_RULE {
            format!("The arguments must also fit this JSON Schema: {rule}")
        } else {
            "The arguments must also fit rules that are not shown here; a call that breaks one is told which.".to_owned()
        })
    }
}

/// Repairs a schema for an API that wants a plain one.
pub fn for_api(schema: &Value) -> Repaired {
    let Some(written) = in_todays_dialect(schema) else {
        // Whoever reads it must know the dialect, so nothing is moved.
        return plain(schema.as_object().cloned().unwrap_or_default(), None);
    };
    let Value::Object(mut root) = references::inlined(&written) else {
        return plain(Map::new(), None);
    };
    if refers_to_root_parts(&root) {
        return plain(Map::new(), Some(written));
    }
    fold(&mut root);
    let left_out = leave_out(&mut root);
    drop_definitions(&mut root);
    plain(root, left_out)
}

/// An object with properties, whatever it was.
fn plain(mut root: Map<String, Value>, left_out: Option<Value>) -> Repaired {
    root.entry("type").or_insert_with(|| json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    Repaired {
        schema: root,
        left_out,
    }
}

/// The schema without `$schema`, where it means the same then.
fn in_todays_dialect(schema: &Value) -> Option<Value> {
    let mut written = schema.clone();
    let is_draft_7 = schema
        .get("$schema")
        .and_then(Value::as_str)
        .is_some_and(|named| named.contains("//json-schema.org/draft-07/schema"));
    let means_the_same =
        references::is_of_today(schema) || (is_draft_7 && !has_odd_keywords(schema));
    written.as_object_mut()?.shift_remove("$schema");
    means_the_same.then_some(written)
}

fn has_odd_keywords(schema: &Value) -> bool {
    let mut is_odd = false;
    walk(schema, &mut |part| {
        let Some(object) = part.schema.as_object() else {
            return;
        };
        let has = |name: &&str| object.contains_key(*name);
        // Draft 7 passes over everything beside a reference, and had lists of items.
        is_odd |= NOT_OF_DRAFT_7.iter().any(has)
            || (object.contains_key("$ref") && object.len() > 1)
            || object.get("items").is_some_and(Value::is_array);
    });
    is_odd
}

/// Takes what stands in `allOf` at the root into the root, where that means the same.
fn fold(root: &mut Map<String, Value>) {
    let Some(Value::Array(all)) = root.shift_remove("allOf") else {
        return;
    };
    let mut rest = Vec::new();
    for schema in all {
        if schema == Value::Bool(true) {
            continue;
        }
        let merged = schema.as_object().and_then(|schema| merge(root, schema));
        match merged {
            Some(merged) if schema.get("$ref").is_none() => *root = merged,
            _ => rest.push(schema),
        }
    }
    if !rest.is_empty() {
        let all = root.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.extend(rest);
        }
    }
}

/// Takes combinators off the root; answers them. Arguments that only they name are shown
/// all the same.
fn leave_out(root: &mut Map<String, Value>) -> Option<Value> {
    let mut left_out = Map::new();
    for keyword in COMBINATORS {
        if let Some(value) = root.shift_remove(keyword) {
            left_out.insert(keyword.to_owned(), value);
        }
    }
    if left_out.is_empty() {
        return None;
    }
    // It may be the combinators that allow a property.
    root.shift_remove("unevaluatedProperties");
    if root.get("additionalProperties") != Some(&Value::Bool(false)) {
        let named = named_by(&left_out);
        let properties = root.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for (name, schema) in named {
                properties.entry(name).or_insert(schema);
            }
        }
    }
    Some(Value::Object(left_out))
}

/// The arguments that combinators name, with what may be said of them whichever branch
/// holds: their words, and their schema where every branch has the same.
fn named_by(left_out: &Map<String, Value>) -> Map<String, Value> {
    let mut found = Map::new();
    for (keyword, value) in left_out {
        let branches: Vec<&Value> = match value {
            Value::Array(all) if !["enum", "const"].contains(&keyword.as_str()) => {
                all.iter().collect()
            }
            value if ["then", "else"].contains(&keyword.as_str()) => vec![value],
            _ => continue,
        };
        let is_choice = ["anyOf", "oneOf"].contains(&keyword.as_str());
        for branch in &branches {
            let properties = branch.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                let is_same = |other: &&Value| other["properties"].get(name) == Some(schema);
                let holds = keyword == "allOf" || (is_choice && branches.iter().all(is_same));
                let shown = if holds {
                    schema.clone()
                } else {
                    words_of(schema)
                };
                found.entry(name.clone()).or_insert(shown);
            }
        }
    }
    found
}

fn words_of(schema: &Value) -> Value {
    let mut words = Map::new();
    for word in ["title", "description"] {
        if let Some(text) = schema.get(word) {
            words.insert(word.to_owned(), text.clone());
        }
    }
    Value::Object(words)
}

/// Whether a reference leads to something that was taken off the root.
fn refers_to_root_parts(root: &Map<String, Value>) -> bool {
    let mut found = false;
    walk(&Value::Object(root.clone()), &mut |part| {
        let target = references::target(part.schema).unwrap_or_default();
        let first = target
            .strip_prefix("#/")
            .and_then(|path| path.split('/').next());
        found |= first.is_some_and(|first| COMBINATORS.contains(&first));
    });
    found
}

/// Drops what nothing refers to any more.
fn drop_definitions(root: &mut Map<String, Value>) {
    const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
    let mut rest = root.clone();
    for name in DEFINITIONS {
        rest.shift_remove(name);
    }
    let mut is_needed = false;
    walk(&Value::Object(rest), &mut |part| {
        is_needed |= ["$ref", "$dynamicRef", "$recursiveRef"]
            .iter()
            .any(|word| part.schema.get(word).is_some());
    });
    if !is_needed {
        for name in DEFINITIONS {
            root.shift_remove(name);
        }
    }
}

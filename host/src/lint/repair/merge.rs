//! Two schemas that both hold, as one.

use serde_json::{Map, Value};

/// Keywords that mean something only together: those of one group must come from one side.
const GROUPS: [&[&str]; 4] = [
    &["properties", "patternProperties", "additionalProperties"],
    &[
        "prefixItems",
        "items",
        "contains",
        "minContains",
        "maxContains",
    ],
    &["if", "then", "else"],
    &["contentEncoding", "contentMediaType", "contentSchema"],
];
/// Keywords that say something to people and nothing to a validator: the outer word wins.
const WORDS: [&str; 9] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "$comment",
];
/// Keywords that depend on everything beside them.
const WATCHFUL: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// One schema that holds exactly where both do; `None`: it can not be had by putting them
/// together. Words of `outer` win.
pub(super) fn merge(
    outer: &Map<String, Value>,
    inner: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let is_word = |(name, _): &(&String, &Value)| WORDS.contains(&name.as_str());
    let is_watchful = |name: &&str| inner.contains_key(*name);
    if !outer.iter().all(|pair| is_word(&pair)) && WATCHFUL.iter().any(is_watchful) {
        return None;
    }
    for group in GROUPS {
        let has = |side: &Map<String, Value>| group.iter().any(|name| side.contains_key(*name));
        if has(outer) && has(inner) && !only_properties(outer, inner, group) {
            return None;
        }
    }
    let mut merged = outer.clone();
    for (name, value) in inner {
        let Some(known) = merged.get_mut(name) else {
            merged.insert(name.clone(), value.clone());
            continue;
        };
        if known == value || WORDS.contains(&name.as_str()) {
            continue;
        }
        match (name.as_str(), known, value) {
            ("required", Value::Array(known), Value::Array(more)) => {
                let more = more.iter().filter(|name| !known.contains(name));
                let more: Vec<Value> = more.cloned().collect();
                known.extend(more);
            }
            ("allOf", Value::Array(known), Value::Array(more)) => known.extend(more.clone()),
            ("properties", Value::Object(known), Value::Object(more)) => {
                for (property, schema) in more {
                    known.entry(property).or_insert_with(|| schema.clone());
                }
            }
            _ => return None,
        }
    }
    Some(merged)
}

/// Whether both sides have properties, nothing about others, and agree where they meet.
fn only_properties(outer: &Map<String, Value>, inner: &Map<String, Value>, group: &[&str]) -> bool {
    if group[0] != "properties" {
        return false;
    }
    let is_open =
        |side: &Map<String, Value>| group[1..].iter().all(|name| !side.contains_key(*name));
    let properties = |side: &Map<String, Value>| side.get("properties").cloned();
    let (Some(Value::Object(one)), Some(Value::Object(other))) =
        (properties(outer), properties(inner))
    else {
        return false;
    };
    let agrees = |(name, schema): (&String, &Value)| other.get(name).is_none_or(|it| it == schema);
    is_open(outer) && is_open(inner) && one.iter().all(agrees)
}

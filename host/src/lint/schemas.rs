//! Rules about schemas of arguments and answers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::repair::COMBINATORS;
use super::repair::references::{self, References};
use super::walk::{Part, escaped, walk};
use crate::model::ToolSpec;

const INPUT: &str = "/inputSchema";
/// Bytes of an argument's name.
const MOST_OF_A_NAME: usize = 64;

/// The places of all sub-schemas that are broken in some way.
fn places(spec: &ToolSpec, is_broken: impl Fn(&Part<'_>) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    walk(&spec.input_schema, &mut |part| {
        if is_broken(part) {
            places.push(format!("{INPUT}{}", part.pointer));
        }
    });
    places
}

pub(super) fn root_combinator(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let has = |keyword: &&&str| spec.input_schema.get(keyword).is_some();
    let found = COMBINATORS.iter().filter(has);
    found.map(|keyword| format!("{INPUT}/{keyword}")).collect()
}

pub(super) fn root_reference(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let is_one = references::target(&spec.input_schema).is_some();
    is_one
        .then(|| format!("{INPUT}/$ref"))
        .into_iter()
        .collect()
}

pub(super) fn properties_missing(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let is_missing = spec.input_schema.get("properties").is_none();
    is_missing.then(|| INPUT.to_owned()).into_iter().collect()
}

pub(super) fn reference(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let known = References::of(&spec.input_schema);
    places(spec, |part| {
        let target = references::target(part.schema);
        !part.pointer.is_empty() && target.is_some_and(|target| !known.is_recursive(target))
    })
}

pub(super) fn recursive(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let known = References::of(&spec.input_schema);
    places(spec, |part| {
        references::target(part.schema).is_some_and(|target| known.is_recursive(target))
    })
}

/// The types that a schema allows besides `null`, where it has a list of them.
fn listed_types(schema: &Value) -> Option<usize> {
    let types = schema.get("type")?.as_array()?.iter();
    Some(types.filter(|one| one.as_str() != Some("null")).count())
}

pub(super) fn type_list(_name: &str, spec: &ToolSpec) -> Vec<String> {
    places(spec, |part| {
        listed_types(part.schema).is_some_and(|types| types != 1)
    })
}

pub(super) fn nullable(_name: &str, spec: &ToolSpec) -> Vec<String> {
    places(spec, |part| listed_types(part.schema) == Some(1))
}

pub(super) fn boolean(_name: &str, spec: &ToolSpec) -> Vec<String> {
    // That nothing else is allowed everybody understands.
    let usual = [
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "items",
    ];
    places(spec, |part| {
        let is_usual = part.schema == &Value::Bool(false) && usual.contains(&part.keyword)
            || part.keyword == "additionalProperties";
        part.schema.is_boolean() && !is_usual
    })
}

pub(super) fn dialect(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let is_other = !references::is_of_today(&spec.input_schema);
    let place = format!("{INPUT}/$schema");
    is_other.then_some(place).into_iter().collect()
}

pub(super) fn property_name(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_name =
        |name: &str| (1..=MOST_OF_A_NAME).contains(&name.len()) && name.bytes().all(is_plain);
    let properties = spec.input_schema.get("properties");
    let names = properties.and_then(Value::as_object).into_iter().flatten();
    names
        .filter(|(name, _)| !is_name(name))
        .map(|(name, _)| format!("{INPUT}/properties/{}", escaped(name)))
        .collect()
}

pub(super) fn required_unknown(_name: &str, spec: &ToolSpec) -> Vec<String> {
    places(spec, |part| {
        let schema = part.schema;
        let allowed: BTreeSet<&str> = match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => properties.keys().map(String::as_str).collect(),
            None => BTreeSet::new(),
        };
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
            && schema.get("patternProperties").is_none();
        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        is_closed && required.any(|name| !allowed.contains(name))
    })
}

pub(super) fn property_undescribed(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let properties = spec.input_schema.get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let is_described = |schema: &Value| {
        ["description", "title", "$ref"]
            .iter()
            .any(|word| schema.get(word).is_some())
    };
    properties
        .filter(|(_, schema)| !is_described(schema))
        .map(|(name, _)| format!("{INPUT}/properties/{}", escaped(name)))
        .collect()
}

pub(super) fn output_not_object(_name: &str, spec: &ToolSpec) -> Vec<String> {
    let of_no_object =
        |schema: &&Value| schema.get("type").and_then(Value::as_str) != Some("object");
    let output = spec.output_schema.as_ref().filter(of_no_object);
    output
        .map(|_| "/outputSchema".to_owned())
        .into_iter()
        .collect()
}

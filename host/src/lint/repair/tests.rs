//! Repairs, each by an example, and all of them against random schemas and documents.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::for_api;
use crate::schema::{self, Validator};

#[test]
fn references_are_written_in_place_and_what_nobody_needs_any_more_goes() {
    let repaired = for_api(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "home": { "$ref": "#/$defs/address", "description": "Where." },
            "away": { "$ref": "#/$defs/address" },
        },
        "$defs": {
            "address": { "type": "object", "properties": { "zip": { "$ref": "#/$defs/zip" } } },
            "zip": { "type": "string" },
        },
    }));
    let address = json!({ "type": "object", "properties": { "zip": { "type": "string" } } });
    let mut home = address.clone();
    home["description"] = json!("Where.");
    let expected = json!({ "type": "object", "properties": { "home": home, "away": address } });
    assert_eq!(Value::Object(repaired.schema), expected);
    assert_eq!(repaired.left_out, None);
}

#[test]
fn what_refers_to_itself_stays_and_so_do_its_definitions() {
    let schema = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/node" }, "n": { "$ref": "#/$defs/n" } },
        "$defs": {
            "n": { "type": "integer" },
            "node": { "type": "object", "properties": { "left": { "$ref": "#/$defs/node" } } },
        },
    });
    let repaired = for_api(&schema).schema;
    assert_eq!(repaired["properties"]["n"], json!({ "type": "integer" }));
    assert_eq!(repaired["properties"]["tree"], schema["properties"]["tree"]);
    assert_eq!(repaired["$defs"]["node"], schema["$defs"]["node"]);
}

#[test]
fn a_root_that_is_a_reference_or_a_sum_becomes_a_plain_object() {
    for schema in [
        json!({ "type": "object", "$ref": "#/$defs/args", "$defs": { "args": {
            "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } },
            "allOf": [{ "required": ["a"] }] }),
    ] {
        let repaired = for_api(&schema);
        let expected = json!({
            "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert_eq!(Value::Object(repaired.schema), expected, "{schema}");
        assert_eq!(repaired.left_out, None, "{schema}");
    }
}

#[test]
fn a_choice_at_the_root_is_left_out_with_its_arguments_shown_and_a_sentence() {
    let choice = json!([
        { "properties": { "id": { "type": "integer", "description": "By number." } }, "required": ["id"] },
        { "properties": { "name": { "type": "string" } }, "required": ["name"] },
    ]);
    let schema = json!({ "type": "object", "properties": { "all": { "type": "boolean" } }, "oneOf": choice });
    let repaired = for_api(&schema);
    let sentence = repaired.sentence().unwrap();
    assert!(
        sentence.contains(r#"{"oneOf":[{"properties""#),
        "{sentence}"
    );
    let expected = json!({ "type": "object", "properties": {
        "all": { "type": "boolean" }, "id": { "description": "By number." }, "name": {} } });
    assert_eq!(Value::Object(repaired.schema), expected);
    let closed = json!({ "type": "object", "additionalProperties": false, "anyOf": choice });
    assert_eq!(
        for_api(&closed).schema["properties"],
        json!({}),
        "nothing else is allowed"
    );
    let huge = json!({ "type": "object", "not": { "enum": vec![json!({ "a": "b" }); 100] } });
    let sentence = for_api(&huge).sentence().unwrap();
    assert!(sentence.contains("not shown"), "{sentence}");
}

#[test]
fn a_dialect_that_means_something_else_is_left_alone() {
    let old = |more: Value| {
        let mut schema =
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" });
        schema["properties"] = json!({ "a": more });
        schema
    };
    let plain = for_api(&old(json!({ "type": "string" })));
    assert!(!plain.schema.contains_key("$schema"));
    let tuple = old(json!({ "items": [{ "type": "string" }] }));
    assert_eq!(Value::Object(for_api(&tuple).schema), tuple);
}

#[test]
fn a_schema_that_would_be_too_long_when_written_out_keeps_its_references() {
    let mut definitions = serde_json::Map::new();
    for level in 0..20 {
        let next = format!("#/$defs/l{}", level + 1);
        let both = json!({ "properties": { "a": { "$ref": next }, "b": { "$ref": next } } });
        definitions.insert(format!("l{level}"), both);
    }
    definitions.insert("l20".into(), json!({ "type": "object" }));
    let schema = json!({ "type": "object", "$defs": definitions,
        "properties": { "a": { "$ref": "#/$defs/l0" } } });
    assert_eq!(Value::Object(for_api(&schema).schema), schema);
}

/// Sub-schemas. References lead to definitions that come later, or anywhere below an
/// argument, so that validation always comes to an end.
fn part(depth: u32, after: usize) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        prop_oneof!["string", "integer", "object", "boolean"]
            .prop_map(|kind| json!({ "type": kind })),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "enum": [1, "a", { "$ref": "#/$defs/d0" }] })),
        Just(json!({ "const": {}, "description": "nothing" })),
        Just(json!({ "required": ["a"] })),
        Just(json!({ "minProperties": 1 })),
    ];
    let refers = (after..4).collect::<Vec<_>>();
    let leaf = if refers.is_empty() {
        leaf.boxed()
    } else {
        let named = |index: usize| json!(format!("#/$defs/d{index}"));
        let beside = prop_oneof![
            Just(json!({})),
            Just(json!({ "description": "beside" })),
            Just(json!({ "type": "object", "required": ["b"] })),
            Just(json!({ "properties": { "c": { "type": "integer" } } })),
            Just(json!({ "additionalProperties": false, "properties": { "a": {} } })),
            Just(json!({ "unevaluatedProperties": false })),
        ];
        let reference =
            (proptest::sample::select(refers), beside).prop_map(move |(index, mut it)| {
                it["$ref"] = named(index);
                it
            });
        prop_oneof![2 => leaf, 2 => reference].boxed()
    };
    if depth == 0 {
        return leaf;
    }
    let same = move || part(depth - 1, after);
    let list = proptest::collection::vec(same(), 1..3);
    let combined = (prop_oneof!["anyOf", "oneOf", "allOf"], list)
        .prop_map(|(word, list)| json!({ word: list }));
    let object = (
        arguments(depth - 1),
        proptest::option::of(any::<bool>()),
        any::<bool>(),
    )
        .prop_map(|(properties, additional, required)| {
            let mut it = json!({ "properties": properties });
            if let Some(additional) = additional {
                it["additionalProperties"] = json!(additional);
            }
            if required {
                it["required"] = json!(["a"]);
            }
            it
        });
    prop_oneof![3 => leaf, 2 => object, 2 => combined, 1 => same().prop_map(|it| json!({ "not": it }))]
        .boxed()
}

fn arguments(depth: u32) -> BoxedStrategy<Value> {
    let name = prop_oneof!["a", "b", "c", "\\$ref"];
    proptest::collection::btree_map(name, part(depth, 0), 0..3)
        .prop_map(|all| json!(all))
        .boxed()
}

fn whole() -> impl Strategy<Value = Value> {
    let definitions = (part(2, 1), part(2, 2), part(2, 3), part(2, 4));
    let more = proptest::option::of(part(2, 0));
    let root = (
        arguments(2),
        more,
        proptest::option::of(any::<bool>()),
        any::<bool>(),
    );
    (root, definitions).prop_map(
        |((properties, more, closed, unevaluated), (d0, d1, d2, d3))| {
            let mut schema = json!({ "type": "object", "properties": properties });
            if let Some(Value::Object(more)) = more {
                for (word, value) in more {
                    schema.as_object_mut().unwrap().entry(word).or_insert(value);
                }
            }
            match (closed, unevaluated) {
                (Some(value), false) => schema["additionalProperties"] = json!(value),
                (Some(value), true) => schema["unevaluatedProperties"] = json!(value),
                (None, _) => {}
            }
            schema["type"] = json!("object");
            schema["$defs"] = json!({ "d0": d0, "d1": d1, "d2": d2, "d3": d3 });
            schema
        },
    )
}

fn document() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(json!(null)),
        Just(json!(1)),
        Just(json!("a")),
        Just(json!(true)),
        Just(json!({}))
    ];
    let value = value.prop_recursive(2, 8, 3, object_of);
    object_of(value)
}

fn object_of(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    let name = prop_oneof!["a", "b", "c", "\\$ref"];
    proptest::collection::btree_map(name, value, 0..4)
        .prop_map(|all| json!(all))
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_repaired_schema_fits_what_the_authors_fits(
        schema in whole(),
        documents in proptest::collection::vec(document(), 16),
    ) {
        prop_assume!(schema::check(&schema).is_ok());
        let repaired = for_api(&schema);
        let written = Value::Object(repaired.schema.clone());
        for combinator in super::COMBINATORS {
            prop_assert!(written.get(combinator).is_none(), "{written}");
        }
        prop_assert!(written["properties"].is_object());
        let original = Validator::new(&schema).unwrap();
        let after = Validator::new(&written)
            .map_err(|why| TestCaseError::fail(format!("{why}: {written}")))?;
        let rest = repaired.left_out.clone().map(|mut rest| {
            rest["$defs"] = schema["$defs"].clone();
            rest
        });
        for document in documents {
            let fits = original.validate(&document).is_ok();
            let fits_after = after.validate(&document).is_ok();
            if rest.is_none() {
                prop_assert_eq!(fits, fits_after, "{} -> {}: {}", schema, written, document);
            } else {
                prop_assert!(fits_after || !fits, "{schema} -> {written}: {document}");
            }
        }
    }
}

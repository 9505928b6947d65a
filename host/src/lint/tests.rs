//! Each rule by what breaks it and by what does not.

use serde_json::{Value, json};

use super::*;
use crate::model::{Capability, Hints, Request};

fn sound() -> ToolSpec {
    ToolSpec {
        name: "search".into(),
        title: None,
        description: "Searches the notes. Answers with their names.".into(),
        input_schema: json!({
            "type": "object",
            "properties": { "words": { "type": "string", "description": "What to look for." } },
            "required": ["words"],
            "additionalProperties": false,
        }),
        output_schema: Some(json!({ "type": "object" })),
        hints: Hints::default(),
        requests: Vec::new(),
    }
}

fn found(name: &str, spec: &ToolSpec) -> Vec<(&'static str, Vec<String>)> {
    let findings = lint(name, spec).into_iter();
    findings
        .map(|found| (found.rule.id, found.places))
        .collect()
}

fn of_schema(schema: Value) -> ToolSpec {
    ToolSpec {
        input_schema: schema,
        ..sound()
    }
}

fn of_argument(schema: &Value) -> ToolSpec {
    let mut spec = sound();
    spec.input_schema["properties"]["words"] = schema.clone();
    spec
}

/// Asserts that a tool breaks one rule, at one place.
fn breaks(rule: &str, place: &str, name: &str, spec: &ToolSpec) {
    let all = found(name, spec);
    assert_eq!(
        all,
        [(rule_id(rule), vec![place.to_owned()])],
        "{name}: {spec:?}"
    );
}

fn rule_id(id: &str) -> &'static str {
    let mut rules = RULES.iter();
    rules
        .find(|rule| rule.id == id)
        .map_or("no such rule", |rule| rule.id)
}

#[test]
fn a_tool_that_clients_like_breaks_no_rule() {
    assert_eq!(found("notes_search", &sound()), []);
    assert_eq!(found(&"n".repeat(40), &sound()), []);
}

#[test]
fn names_that_some_clients_do_not_take_are_found() {
    for name in ["1st", "_x"] {
        breaks("name-first", "/name", name, &sound());
    }
    let both = found("--help", &sound());
    assert_eq!(both.len(), 2, "{both:?}");
    breaks("name-long", "/name", &"n".repeat(41), &sound());
    breaks("name-dash", "/name", "a-b", &sound());
}

#[test]
fn names_that_are_taken_for_each_other_are_found_in_pairs() {
    let names = ["a_b", "A_b", "a-b", "ab", "c"];
    let pairs = similar_names(names.into_iter());
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, other, _)| (*name, *other))
        .collect();
    assert_eq!(pairs, [("A_b", "a_b"), ("a-b", "a_b")]);
}

#[test]
fn descriptions_that_say_nothing_or_too_much_are_found() {
    let described = |text: &str| ToolSpec {
        description: text.to_owned(),
        ..sound()
    };
    let long = "Short. ".repeat(150);
    let sentence = format!("{} and on. Then more.", "on ".repeat(80));
    for (rule, text) in [
        ("description-missing", " \n"),
        ("description-long", long.as_str()),
        ("description-control", "a\u{7}b"),
        ("description-first-sentence", sentence.as_str()),
    ] {
        breaks(rule, "/description", "search", &described(text));
    }
}

#[test]
fn hints_that_contradict_are_found() {
    let hinting = |destructive| Hints {
        read_only: Some(true),
        destructive,
        ..Hints::default()
    };
    let mut spec = ToolSpec {
        hints: hinting(Some(true)),
        ..sound()
    };
    breaks("hints-contradict", "/annotations", "search", &spec);
    spec.hints = hinting(Some(false));
    assert_eq!(found("search", &spec), []);
    spec.requests.push(Request {
        capability: Capability::WriteFolder("/notes".into()),
        reason: String::new(),
        optional: false,
    });
    breaks("hints-writes", "/annotations/readOnlyHint", "search", &spec);
}

#[test]
fn roots_that_are_no_plain_object_are_found() {
    for word in ["oneOf", "anyOf", "allOf", "not", "if"] {
        let mut schema = sound().input_schema;
        schema[word] = if ["not", "if"].contains(&word) {
            json!({})
        } else {
            json!([{}])
        };
        let place = format!("/inputSchema/{word}");
        breaks("root-combinator", &place, "search", &of_schema(schema));
    }
    let reference =
        json!({ "type": "object", "properties": {}, "$ref": "#/$defs/a", "$defs": { "a": {} } });
    breaks(
        "root-ref",
        "/inputSchema/$ref",
        "search",
        &of_schema(reference),
    );
    let bare = of_schema(json!({ "type": "object" }));
    breaks("properties-missing", "/inputSchema", "search", &bare);
    let mut old = sound().input_schema;
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    breaks(
        "schema-dialect",
        "/inputSchema/$schema",
        "search",
        &of_schema(old),
    );
}

#[test]
fn what_models_apis_do_not_know_is_found_wherever_it_stands() {
    let words = "/inputSchema/properties/words";
    for (rule, schema, below) in [
        ("schema-nullable", json!({ "type": ["string", "null"] }), ""),
        (
            "schema-type-array",
            json!({ "type": ["string", "integer"] }),
            "",
        ),
        (
            "schema-type-array",
            json!({ "items": { "anyOf": [{ "type": ["null"] }] } }),
            "/items/anyOf/0",
        ),
        (
            "schema-boolean",
            json!({ "properties": { "a/b": true } }),
            "/properties/a~1b",
        ),
        ("schema-boolean", json!({ "not": false }), "/not"),
    ] {
        let mut schema = schema;
        schema["description"] = json!("Words.");
        breaks(
            rule,
            &format!("{words}{below}"),
            "search",
            &of_argument(&schema),
        );
    }
    // What only looks like a schema is none.
    let value = json!({ "description": "Words.", "default": { "type": ["a"], "$ref": "#/b" },
        "enum": [{ "$ref": "#/a" }], "additionalProperties": false });
    assert_eq!(found("search", &of_argument(&value)), []);
}

#[test]
fn references_are_told_from_those_that_lead_back() {
    let mut spec = of_argument(&json!({ "$ref": "#/$defs/a" }));
    spec.input_schema["$defs"] = json!({ "a": { "type": "string" } });
    breaks(
        "schema-ref",
        "/inputSchema/properties/words/$ref".trim_end_matches("/$ref"),
        "search",
        &spec,
    );
    spec.input_schema["$defs"]["a"] = json!({ "items": { "$ref": "#/$defs/a" } });
    let all = found("search", &spec);
    let places = [
        "/inputSchema/properties/words",
        "/inputSchema/$defs/a/items",
    ];
    assert_eq!(
        all,
        [("schema-recursive", places.map(str::to_owned).to_vec())]
    );
}

#[test]
fn arguments_that_can_not_be_named_or_given_are_found() {
    let named = |name: &str| {
        let mut spec = sound();
        spec.input_schema["properties"][name] = json!({ "description": "Odd." });
        spec
    };
    breaks(
        "property-name",
        "/inputSchema/properties/gr\u{fc}n",
        "search",
        &named("gr\u{fc}n"),
    );
    breaks(
        "property-name",
        "/inputSchema/properties/a b",
        "search",
        &named("a b"),
    );
    let mut spec = sound();
    spec.input_schema["required"] = json!(["words", "other"]);
    breaks("required-unknown", "/inputSchema", "search", &spec);
    spec.input_schema["patternProperties"] = json!({ "^o": {} });
    assert_eq!(found("search", &spec), []);
    let bare = of_argument(&json!({ "type": "string" }));
    breaks(
        "property-description",
        "/inputSchema/properties/words",
        "search",
        &bare,
    );
}

#[test]
fn an_answer_that_is_no_object_is_found() {
    let spec = ToolSpec {
        output_schema: Some(json!({ "type": "array" })),
        ..sound()
    };
    breaks("output-not-object", "/outputSchema", "search", &spec);
}

#[test]
fn places_of_one_finding_are_bounded_and_rules_have_names_of_their_own() {
    let mut spec = sound();
    for number in 0..100 {
        spec.input_schema["properties"][format!("a{number}")] = json!({});
    }
    assert_eq!(found("search", &spec)[0].1.len(), MAX_PLACES);
    let ids: std::collections::BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
}

//! The JSON Schemas that an agent sees, word for word.

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signatures are what is tested"
)]

use std::collections::BTreeMap;

use insta::assert_snapshot;
use prx_skill::prelude::*;
use prx_skill::{Tool, testing};

#[data]
#[derive(Default)]
struct Counts {
    /// Words of the text.
    words: usize,
    longest: Option<String>,
}

#[data]
#[derive(Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Order {
    Rising,
    Falling,
}

#[data]
enum Mixed {
    Nothing,
    Counted { words: u32 },
}

#[data]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// Count words, lines and characters of a text.
#[tool(read_only)]
fn wordcount(
    /// The text to count.
    text: String,
    /// Count only words at least this long.
    ///
    /// Shorter ones are skipped.
    #[default(1)]
    min_length: usize,
    order: Option<Order>,
    #[schemars(range(min = 1, max = 9))]
    #[default]
    depth: u8,
    #[serde(rename = "in")]
    #[default("de")]
    language: &str,
) -> Counts {
    let _ = (text, min_length, order, depth, language);
    Counts::default()
}

/// Do nothing.
#[tool]
fn nothing() {}

/// Take a tree.
#[tool]
fn plant(tree: Tree) -> Tree {
    tree
}

/// Give a list.
#[tool]
fn list() -> Vec<f32> {
    vec![0.5]
}

/// Give something or nothing.
#[tool]
fn maybe() -> Option<Counts> {
    None
}

/// Give one or the other.
#[tool]
fn mixed() -> Mixed {
    Mixed::Nothing
}

/// Give a map.
#[tool]
fn map() -> BTreeMap<String, i64> {
    BTreeMap::new()
}

/// Give a list of trees.
#[tool]
fn forest() -> Vec<Tree> {
    Vec::new()
}

#[data(input)]
struct Query {
    /// What to look for.
    text: String,
    #[serde(default)]
    limit: Option<u32>,
}

/// Search.
#[tool]
fn search(#[arguments] query: Query) -> String {
    format!("{}{:?}", query.text, query.limit)
}

prx_skill::skill!(
    wordcount, nothing, plant, list, maybe, mixed, map, forest, search
);

fn input<T: Tool>() -> String {
    T::describe().input_schema.as_value().to_string()
}

fn output<T: Tool>() -> String {
    T::describe()
        .output_schema
        .expect("an output schema")
        .as_value()
        .to_string()
}

#[test]
fn every_tool_fits_the_contract() {
    assert_eq!(testing::describe(&SKILL).len(), 9);
}

#[test]
fn parameters_keep_their_order_documentation_and_defaults() {
    assert_snapshot!(input::<wordcount>(), @r##"{"type":"object","properties":{"text":{"type":"string","description":"The text to count."},"min_length":{"type":"integer","default":1,"minimum":0,"description":"Count only words at least this long.\n\nShorter ones are skipped."},"order":{"type":["string","null"],"enum":["rising","falling",null]},"depth":{"type":"integer","default":0,"minimum":1,"maximum":9},"in":{"type":"string","default":"de"}},"required":["text"],"additionalProperties":false}"##);
}

#[test]
fn no_parameters_are_an_object_without_properties() {
    assert_snapshot!(input::<nothing>(), @r##"{"type":"object","properties":{},"additionalProperties":false}"##);
    assert_eq!(nothing::describe().output_schema, None);
}

#[test]
fn only_a_type_that_contains_itself_leaves_a_reference() {
    assert_snapshot!(input::<plant>(), @r##"{"type":"object","properties":{"tree":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"]}},"required":["tree"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"]}}}"##);
    assert_snapshot!(output::<plant>(), @r##"{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["name","children"]}"##);
    assert_snapshot!(output::<forest>(), @r##"{"type":"object","properties":{"result":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"]}}},"required":["result"],"additionalProperties":false,"$defs":{"Tree":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["name","children"]}}}"##);
}

#[test]
fn a_struct_gives_its_own_schema() {
    assert_snapshot!(output::<wordcount>(), @r##"{"type":"object","properties":{"words":{"type":"integer","description":"Words of the text.","minimum":0},"longest":{"type":["string","null"]}},"required":["words","longest"]}"##);
    assert_snapshot!(output::<map>(), @r##"{"type":"object","additionalProperties":{"type":"integer"}}"##);
}

#[test]
fn what_is_no_object_is_put_into_result() {
    assert_snapshot!(output::<list>(), @r##"{"type":"object","properties":{"result":{"type":"array","items":{"type":"number"}}},"required":["result"],"additionalProperties":false}"##);
    assert_snapshot!(output::<maybe>(), @r##"{"type":"object","properties":{"result":{"type":["object","null"],"properties":{"words":{"description":"Words of the text.","type":"integer","minimum":0},"longest":{"type":["string","null"]}},"required":["words","longest"]}},"required":["result"],"additionalProperties":false}"##);
    assert_snapshot!(output::<mixed>(), @r##"{"type":"object","anyOf":[{"oneOf":[{"type":"string","enum":["Nothing"]},{"type":"object","properties":{"Counted":{"type":"object","properties":{"words":{"type":"integer","minimum":0}},"required":["words"]}},"required":["Counted"],"additionalProperties":false}]},{"type":"object","properties":{"result":{"oneOf":[{"type":"string","enum":["Nothing"]},{"type":"object","properties":{"Counted":{"type":"object","properties":{"words":{"type":"integer","minimum":0}},"required":["words"]}},"required":["Counted"],"additionalProperties":false}]}},"required":["result"],"additionalProperties":false}]}"##);
}

#[test]
fn a_struct_of_arguments_refuses_what_it_does_not_know() {
    assert_snapshot!(input::<search>(), @r##"{"type":"object","properties":{"text":{"type":"string","description":"What to look for."},"limit":{"type":["integer","null"],"minimum":0}},"required":["text"],"additionalProperties":false}"##);
}

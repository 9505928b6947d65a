//! Calls with JSON, as a host makes them: decoding, answers, errors.

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signatures are what is tested"
)]

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use prx_skill::prelude::*;
use prx_skill::testing::call;
use prx_skill::{Skill, Tool, serde_json};
use serde_json::{Value, json};

#[data]
#[derive(Debug, PartialEq)]
struct Sum {
    total: i64,
}

/// Add two numbers, the second one being optional.
#[tool(read_only)]
fn add(a: i64, b: Option<i64>, #[default(1)] factor: i64) -> Sum {
    Sum {
        total: (a + b.unwrap_or(0)) * factor,
    }
}

/// Join texts.
#[tool]
fn join(
    #[default(&["x".to_string()])] texts: &[String],
    #[default(", ")] separator: &str,
) -> String {
    texts.join(separator)
}

/// Say something fixed.
#[tool]
fn fixed() -> &'static str {
    "fixed"
}

/// Say something from the arguments.
#[tool]
fn first_word(text: &str) -> Cow<'_, str> {
    text.split(' ').next().unwrap_or_default().into()
}

/// Say nothing.
#[tool]
fn quiet() {}

/// Say nothing, or fail.
#[tool]
fn quiet_or_not(fail: bool) -> Result<(), String> {
    if fail {
        Err("it was to fail".into())
    } else {
        Ok(())
    }
}

/// Give a list.
#[tool]
fn list(#[default] length: u8) -> Vec<u8> {
    (0..length).collect()
}

/// Give an object or nothing.
#[tool]
fn maybe(is_there: bool) -> Option<Sum> {
    is_there.then_some(Sum { total: 1 })
}

/// Give contents of every kind.
#[tool]
fn contents() -> Output {
    Output::new()
        .text("one")
        .image([1, 2], "image/png")
        .audio([3], "audio/wav")
        .resource(Resource::text("note:1", "hello").media_type("text/plain"))
}

/// Give structure and words.
#[tool]
fn both() -> Result<Structured<Sum>, ToolError> {
    Ok(Structured::new(Sum { total: 3 }).text("three"))
}

type Answer<T> = Result<T, Box<dyn Error>>;

/// Parse a number; the result type has another name.
#[tool]
fn parse(text: String) -> Answer<Value> {
    Ok(json!(text.parse::<i32>()?))
}

/// Parse a number with anyhow.
#[tool]
fn parse_anyhow(text: String) -> anyhow::Result<String> {
    use anyhow::Context as _;
    Ok(text
        .parse::<i32>()
        .with_context(|| format!("`{text}` is no number"))?
        .to_string())
}

/// Parse a number with an error that may travel between threads.
#[tool]
fn parse_shared(text: String) -> Result<String, Box<dyn Error + Send + Sync>> {
    Ok(text.parse::<i32>()?.to_string())
}

#[derive(Debug)]
struct Outer(std::io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outer error")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Fail with an error of one's own.
#[tool]
fn own_error() -> Result<Sum, Outer> {
    Err(Outer(std::io::Error::from(
        std::io::ErrorKind::PermissionDenied,
    )))
}

/// A name and a parameter that are words of Rust, and a parameter named as the function.
#[tool(name = "as-is", title = "As is")]
fn r#match(r#type: String, r#match: String) -> String {
    r#type + &r#match
}

#[data(input)]
struct Query {
    text: String,
    #[serde(default, alias = "max")]
    limit: u8,
}

/// Take a struct.
#[tool]
fn query(#[arguments] query: &Query) -> String {
    format!("{} {}", query.text, query.limit)
}

mod elsewhere {
    use prx_skill::prelude::*;

    /// Be in another module.
    #[tool]
    pub fn far(mut count: u8) -> String {
        count += 1;
        count.to_string()
    }
}

prx_skill::skill!(
    add,
    join,
    fixed,
    first_word,
    quiet,
    quiet_or_not,
    list,
    maybe,
    contents,
    both,
    parse,
    parse_anyhow,
    parse_shared,
    own_error,
    r#match,
    query,
    elsewhere::far,
);

fn structured(name: &str, arguments: Value) -> Value {
    let output = call(&SKILL, name, arguments).unwrap();
    assert_eq!(
        output.contents,
        [],
        "the host shows the JSON text of a structured answer"
    );
    serde_json::from_str(&output.structured.unwrap()).unwrap()
}

fn text(name: &str, arguments: Value) -> String {
    let output = call(&SKILL, name, arguments).unwrap();
    assert_eq!(output.structured, None);
    match output.contents.as_slice() {
        [Content::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}

fn error(name: &str, arguments: impl fmt::Display) -> (ErrorKind, String) {
    let error = call(&SKILL, name, arguments).unwrap_err();
    (error.kind(), error.message().to_owned())
}

#[test]
fn the_function_stays_a_function() {
    assert_eq!(add(1, Some(2), 3), Sum { total: 9 });
    assert_eq!(first_word("a b"), "a");
}

#[test]
fn absent_arguments_take_their_defaults() {
    assert_eq!(structured("add", json!({ "a": 2 })), json!({ "total": 2 }));
    assert_eq!(
        structured("add", json!({ "a": 2, "b": null, "factor": 5 })),
        json!({ "total": 10 })
    );
    assert_eq!(text("join", json!({ "texts": ["a", "b"] })), "a, b");
    assert_eq!(
        text("join", json!({ "texts": ["a", "b"], "separator": "-" })),
        "a-b"
    );
    assert_eq!(structured("list", json!({})), json!({ "result": [] }));
}

#[test]
fn texts_of_every_type_are_one_content() {
    assert_eq!(text("fixed", json!({})), "fixed");
    assert_eq!(
        text("first_word", json!({ "text": "a\u{1F980} b" })),
        "a\u{1F980}"
    );
    assert_eq!(text("far", json!({ "count": 1 })), "2");
    assert_eq!(text("as-is", json!({ "type": "a", "match": "b" })), "ab");
    assert_eq!(text("query", json!({ "text": "a", "max": 7 })), "a 7");
}

#[test]
fn nothing_to_say_is_an_answer() {
    assert_eq!(call(&SKILL, "quiet", "{}").unwrap(), Output::new());
    assert_eq!(
        call(&SKILL, "quiet_or_not", json!({ "fail": false })).unwrap(),
        Output::new()
    );
}

#[test]
fn what_is_no_object_is_put_into_result() {
    assert_eq!(
        structured("list", json!({ "length": 2 })),
        json!({ "result": [0, 1] })
    );
    assert_eq!(
        structured("maybe", json!({ "is_there": false })),
        json!({ "result": null })
    );
    assert_eq!(
        structured("maybe", json!({ "is_there": true })),
        json!({ "result": { "total": 1 } })
    );
    assert_eq!(
        structured("parse", json!({ "text": "5" })),
        json!({ "result": 5 })
    );
}

#[test]
fn contents_come_in_the_order_they_were_added() {
    let output = call(&SKILL, "contents", "{}").unwrap();
    assert_eq!(
        output.contents,
        [
            Content::text("one"),
            Content::image([1, 2], "image/png"),
            Content::audio([3], "audio/wav"),
            Resource::text("note:1", "hello")
                .media_type("text/plain")
                .into(),
        ]
    );
    let output = call(&SKILL, "both", "{}").unwrap();
    assert_eq!(output.contents, [Content::text("three")]);
    assert_eq!(output.structured.as_deref(), Some(r#"{"total":3}"#));
    assert!(both::describe().output_schema.is_some());
}

#[test]
fn an_argument_at_fault_is_named() {
    let invalid = |message: &str| (ErrorKind::InvalidArguments, message.to_owned());
    assert_eq!(
        error("add", json!({ "a": "5" })),
        invalid("argument `a`: invalid type: string \"5\", expected i64")
    );
    assert_eq!(
        error("add", json!({})),
        invalid("arguments: missing argument `a`")
    );
    assert_eq!(
        error("add", json!({ "a": 1, "c": 2 })),
        invalid("arguments: unknown argument `c`, expected one of `a`, `b`, `factor`")
    );
    assert_eq!(
        error("add", r#"{"a":1,"a":2}"#),
        invalid("argument `a`: duplicate field `a`")
    );
    assert_eq!(
        error("query", json!({ "text": "a", "limit": 256 })),
        invalid("argument `limit`: invalid value: integer `256`, expected u8")
    );
    assert_eq!(
        error("query", json!({ "text": "a", "x": 1 })),
        invalid("arguments: unknown argument `x`, expected one of `text`, `limit`, `max`")
    );
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    for (arguments, expected) in [
        ("[1, 2]", "expected a JSON object"),
        ("null", "expected a JSON object"),
        ("", "not valid JSON"),
        ("{\"a\": 1e400}", "number out of range"),
        ("{\"a\": 1} x", "not valid JSON"),
        ("{\"a\": \"\\ud800\"}", "not valid JSON"),
    ] {
        for tool in ["add", "query"] {
            let (kind, message) = error(tool, arguments);
            assert_eq!(kind, ErrorKind::InvalidArguments);
            if tool == "add" {
                assert!(message.contains(expected), "{arguments}: {message}");
            }
        }
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(error("add", deep).0, ErrorKind::InvalidArguments);
}

#[test]
fn every_ordinary_error_becomes_one_of_the_call() {
    let failed = |message: &str| (ErrorKind::Failed, message.to_owned());
    let digit = "invalid digit found in string";
    assert_eq!(
        error("quiet_or_not", json!({ "fail": true })),
        failed("it was to fail")
    );
    assert_eq!(error("parse", json!({ "text": "x" })), failed(digit));
    assert_eq!(error("parse_shared", json!({ "text": "x" })), failed(digit));
    assert_eq!(
        error("parse_anyhow", json!({ "text": "x" })),
        failed("`x` is no number: invalid digit found in string")
    );
    assert_eq!(
        error("own_error", "{}"),
        (
            ErrorKind::Denied,
            "the outer error: permission denied".to_owned()
        )
    );
}

#[test]
fn an_unknown_tool_is_not_found_and_the_others_are_named() {
    const ONE: Skill = SKILL;
    let (kind, message) = error("nope", "{}");
    assert_eq!(kind, ErrorKind::NotFound);
    assert!(
        message.starts_with("this skill has no tool `nope`; it has `add`, `join`"),
        "{message}"
    );
    assert_eq!(ONE.names().nth(14), Some("as-is"));
}

#[test]
fn details_travel_with_an_error() {
    let error = ToolError::conflict("taken")
        .with_data(json!({ "by": 7 }))
        .context("can not book");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.message(), "can not book: taken");
    assert_eq!(error.data(), Some(r#"{"by":7}"#));
}

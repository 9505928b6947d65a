//! Whole numbers, however they are written: JSON Schema calls `100.0` an integer, and models
//! write it, so a tool that wants an integer gets one.

#![allow(
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    reason = "the signatures are what is tested"
)]

use std::collections::BTreeMap;

use prx_skill::prelude::*;
use prx_skill::serde_json::Value;
use prx_skill::testing::call;

#[data(input)]
struct Page {
    first: i64,
    count: Option<u8>,
}

#[data(input)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32 },
}

#[data(input)]
#[serde(untagged)]
enum Either {
    Whole(i64),
    Text(String),
}

#[data(input)]
struct Nested {
    #[serde(flatten)]
    page: Page,
    text: String,
}

/// Take integers of every size.
#[tool]
fn sizes(a: i8, b: u16, c: i32, d: u64, e: i64, f: usize, g: i128) -> String {
    format!("{a} {b} {c} {d} {e} {f} {g}")
}

/// Take integers inside of other things.
#[tool]
fn inside(
    page: Page,
    list: Vec<u32>,
    pair: (i16, f64),
    map: BTreeMap<String, i32>,
    shape: Shape,
    either: Vec<Either>,
) -> String {
    let shape = match shape {
        Shape::Circle { radius } => format!("circle {radius}"),
        Shape::Square { side } => format!("square {side}"),
    };
    let either: Vec<String> = either
        .into_iter()
        .map(|either| match either {
            Either::Whole(number) => number.to_string(),
            Either::Text(text) => text,
        })
        .collect();
    let (first, count) = (page.first, page.count);
    format!("{first} {count:?} {list:?} {pair:?} {map:?} {shape} {either:?}")
}

/// Take an integer beside what wants its number as it was written.
#[tool]
fn beside(count: u32, fraction: f64, any: Value) -> String {
    format!("{count} {fraction:?} {any}")
}

/// Take a struct with another one in its midst.
#[tool]
fn flattened(#[arguments] nested: Nested) -> String {
    let page = nested.page;
    format!("{} {:?} {}", page.first, page.count, nested.text)
}

/// Take any names.
#[tool]
fn named(#[arguments] numbers: BTreeMap<String, u64>) -> String {
    format!("{numbers:?}")
}

prx_skill::skill!(sizes, inside, beside, flattened, named);

fn text(name: &str, arguments: &str) -> String {
    let output = call(&SKILL, name, arguments).unwrap();
    match output.contents.as_slice() {
        [Content::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}

fn refused(name: &str, arguments: &str) -> String {
    let error = call(&SKILL, name, arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    error.message().to_owned()
}

#[test]
fn a_number_without_a_fraction_is_an_integer_however_it_is_written() {
    let arguments = r#"{"a": -1.0, "b": 1e2, "c": -0.0, "d": 0.5e1, "e": 120E-1,
        "f": 100.000, "g": 7.0}"#;
    assert_eq!(text("sizes", arguments), "-1 100 0 5 12 100 7");
    let arguments = r#"{"a": -0, "b": 0e99999999999999999999, "c": 2.0E+0, "d": 9007199254740992.0,
        "e": -9.007199254740992e15, "f": 0.000, "g": -1e3}"#;
    assert_eq!(
        text("sizes", arguments),
        "0 0 2 9007199254740992 -9007199254740992 0 -1000"
    );
}

#[test]
fn what_is_written_as_an_integer_stays_exact() {
    let arguments = r#"{"a": 1, "b": 2.0, "c": 3, "d": 18446744073709551615,
        "e": -9223372036854775808, "f": 9007199254740993,
        "g": 170141183460469231731687303715884105727}"#;
    assert_eq!(
        text("sizes", arguments),
        "1 2 3 18446744073709551615 -9223372036854775808 9007199254740993 \
         170141183460469231731687303715884105727"
    );
}

#[test]
fn integers_inside_of_other_things_are_taken_too() {
    let arguments = r#"{"page": {"first": 1.0, "count": 2.0}, "list": [1, 2.0, 3e0],
        "pair": [4.0, 5.0], "map": {"a \" 1.0": 6.0}, "shape": {"kind": "circle", "radius": 7.0},
        "either": [8.0, "9.0"]}"#;
    assert_eq!(
        text("inside", arguments),
        r#"1 Some(2) [1, 2, 3] (4, 5.0) {"a \" 1.0": 6} circle 7 ["8", "9.0"]"#
    );
    assert_eq!(
        text(
            "flattened",
            r#"{"first": 1.0, "count": 2.0, "text": "3.0"}"#
        ),
        "1 Some(2) 3.0"
    );
    assert_eq!(
        text("flattened", r#"{"first": 1e0, "text": ""}"#),
        "1 None "
    );
    assert_eq!(
        text("named", r#"{"a": 1.0, "b": 2, "c": 3.0}"#),
        r#"{"a": 1, "b": 2, "c": 3}"#
    );
}

#[test]
fn another_argument_gets_its_number_as_it_was_written() {
    for arguments in [
        r#"{"count": 100.0, "fraction": -0.0, "any": [1.0, {"count": 2.0}, 1e300]}"#,
        r#"{"fraction": -0.0, "any": [1.0, {"count": 2.0}, 1e300], "\u0063ount": 1e2}"#,
    ] {
        assert_eq!(
            text("beside", arguments),
            r#"100 -0.0 [1.0,{"count":2.0},1e+300]"#
        );
    }
    assert_eq!(
        text("beside", r#"{"count": 1, "fraction": 2, "any": 3.0}"#),
        "1 2.0 3.0"
    );
}

#[test]
fn a_fraction_is_no_integer() {
    for (number, shown) in [("100.5", "100.5"), ("1e-1", "0.1"), ("-0.5", "-0.5")] {
        let arguments = format!(r#"{{"count": {number}, "fraction": 1, "any": null}}"#);
        assert_eq!(
            refused("beside", &arguments),
            format!("argument `count`: `{shown}` is no whole number, expected u32")
        );
    }
    assert_eq!(
        refused("inside", r#"{"page": {"first": 1.0, "count": 2.5}}"#),
        "argument `page`: `2.5` is no whole number, expected u8",
        "what is at fault is named, not what was mended"
    );
    assert_eq!(
        refused("flattened", r#"{"first": 1, "text": 2.5}"#),
        "argument `text`: invalid type: floating point `2.5`, expected a string",
        "nobody wanted an integer here"
    );
}

#[test]
fn a_float_that_may_have_been_rounded_is_refused() {
    let refused = |number: &str| {
        let arguments =
            format!(r#"{{"a": 1, "b": 1, "c": 1, "d": {number}, "e": 1, "f": 1, "g": 1}}"#);
        let message = refused("sizes", &arguments);
        assert!(message.starts_with("argument `d`: "), "{message}");
        message
    };
    // As a 64-bit float the last one is 1; what was written is not.
    for number in ["9007199254740993.0", "1e16", "1.00000000000000000001"] {
        let message = refused(number);
        assert!(message.contains("may have been rounded"), "{message}");
        assert!(message.contains("9007199254740992"), "the limit: {message}");
    }
    for number in ["18446744073709551616", "1e300", "-9.3e18"] {
        let message = refused(number);
        assert!(message.contains("out of range"), "{message}");
    }
}

#[test]
fn what_does_not_fit_is_said_with_the_number_that_was_meant() {
    assert_eq!(
        refused("inside", r#"{"page": {"first": 1, "count": 256.0}}"#),
        "argument `page`: invalid value: integer `256`, expected u8"
    );
    let message = refused("beside", r#"{"count": -1.0, "fraction": 1, "any": null}"#);
    assert_eq!(
        message,
        "argument `count`: invalid value: integer `-1`, expected u32"
    );
}

#[test]
fn what_is_not_json_is_said_so_beside_such_numbers() {
    for broken in [
        r#"{"count": 1.0, "#,
        r#"{"count": 1.0, "any": tru}"#,
        r#"{"count": 1.0]"#,
    ] {
        let message = refused("beside", broken);
        assert!(message.contains("not valid JSON"), "{message}");
    }
}

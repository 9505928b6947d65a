//! The bench's skill: a small JSON argument in, a small structured answer out, and
//! nothing else. It imports nothing that the standard library does not insist on.

use prx_guests::tools::{ErrorKind, Guest, Output, ToolSpec};
use prx_guests::{Answer, bindings, fail, no_hints};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Arguments {
    text: String,
    #[serde(default)]
    numbers: Vec<i64>,
}

#[derive(Serialize)]
struct Summary {
    characters: usize,
    sum: i64,
}

struct Trivial;

impl Guest for Trivial {
    fn describe() -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "trivial".to_owned(),
            title: None,
            description: "Counts the characters of a text and adds numbers.".to_owned(),
            input_schema: r#"{"type":"object","properties":{"text":{"type":"string"},"numbers":{"type":"array","items":{"type":"integer"}}},"required":["text"]}"#.to_owned(),
            output_schema: None,
            hints: no_hints(),
            requests: Vec::new(),
        }]
    }

    fn call(_name: String, arguments: String) -> Answer {
        let Arguments { text, numbers } = serde_json::from_str(&arguments)
            .map_err(|error| fail(ErrorKind::InvalidArguments, error.to_string()))?;
        let sum = numbers
            .iter()
            .fold(0, |sum: i64, number| sum.wrapping_add(*number));
        let summary = Summary {
            characters: text.chars().count(),
            sum,
        };
        let json = serde_json::to_string(&summary)
            .map_err(|error| fail(ErrorKind::Failed, error.to_string()))?;
        Ok(Output {
            contents: Vec::new(),
            structured: Some(json),
        })
    }
}

bindings::export_tools!(Trivial with_types_in bindings);

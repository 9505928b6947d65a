//! The arguments of a call, from the command line to JSON.
//!
//! Invariant: what the schema does not want is sent all the same, so that the host says
//! what is wrong with it and where. JSON given as a whole reaches the host unchanged.

use serde_json::{Map, Value};

use super::sources;
use super::wanted::Wanted;
use crate::cli::Exit;
use crate::cli::render::Failure;

/// What the command line gave.
#[derive(Debug)]
pub struct Given {
    /// The whole, as JSON text.
    json: Option<String>,
    /// Single keys, in their order.
    pairs: Vec<(String, Text)>,
}

/// The value of a single key.
#[derive(Debug)]
enum Text {
    /// To be read as the schema wants it.
    AsWanted(String),
    /// JSON already.
    Json(Value),
}

impl Given {
    /// Reads the command line and the files that it points at.
    pub fn read(json: Option<&str>, pairs: &[String]) -> Result<Self, Failure> {
        let json = match json {
            None => None,
            Some("-") => Some(sources::read("-")?),
            Some(text) => Some(match text.strip_prefix('@') {
                Some(file) => sources::read(file)?,
                None => text.to_owned(),
            }),
        };
        let mut read: Vec<(String, Text)> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let (key, text) = read_pair(pair)?;
            if read.iter().any(|(known, _)| *known == key) {
                return Err(
                    Failure::new(Exit::Usage, format!("`--arg {key}` is given twice")).help(
                        format!("give a list as JSON: --arg '{key}:=[\"a\", \"b\"]'"),
                    ),
                );
            }
            read.push((key, text));
        }
        Ok(Self { json, pairs: read })
    }

    /// The JSON text for a tool with this schema.
    pub fn for_schema(&self, schema: &Value) -> Result<String, Failure> {
        let text = self.json.as_deref().unwrap_or_default();
        if self.pairs.is_empty() {
            return Ok(text.to_owned());
        }
        let mut whole = object(text)?;
        for (key, text) in &self.pairs {
            let value = match text {
                Text::Json(value) => value.clone(),
                Text::AsWanted(text) => value(key, text, Wanted::of_property(schema, key))?,
            };
            whole.insert(key.clone(), value);
        }
        Ok(Value::Object(whole).to_string())
    }
}

fn read_pair(pair: &str) -> Result<(String, Text), Failure> {
    let Some((key, text)) = pair
        .split_once('=')
        .filter(|(key, _)| !matches!(*key, "" | ":"))
    else {
        return Err(
            Failure::new(Exit::Usage, format!("`--arg {pair}` is no argument"))
                .cause("it has no `key=` in front")
                .help("write --arg key=value"),
        );
    };
    let text = match text.strip_prefix('@') {
        Some(file) => sources::read(file)?,
        None => text.to_owned(),
    };
    let Some(key) = key.strip_suffix(':') else {
        return Ok((key.to_owned(), Text::AsWanted(text)));
    };
    match serde_json::from_str(&text) {
        Ok(value) => Ok((key.to_owned(), Text::Json(value))),
        Err(error) => Err(not_json(key, &error)),
    }
}

fn not_json(key: &str, error: &serde_json::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("the value of `--arg {key}` is no JSON"),
    )
    .cause(error.to_string())
    .help(format!(
        "write text with `{key}=…`, JSON with `{key}:=…`, strings in it in quotes"
    ))
}

/// The object that single keys are put into.
fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    let text = text.trim();
    if text.is_empty() || text == "null" {
        return Ok(Map::new());
    }
    let failed = |why: String| {
        Failure::new(
            Exit::Usage,
            "the arguments are no JSON object, so `--arg` can not add to them",
        )
        .cause(why)
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(failed(format!("they are `{other}`"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn value(key: &str, text: &str, wanted: Wanted) -> Result<Value, Failure> {
    if wanted == Wanted::Text {
        return Ok(Value::String(text.to_owned()));
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        // Meant to be JSON: its fault is worth more than the schema's complaint.
        Err(error) if text.trim_start().starts_with(['[', '{']) && wanted != Wanted::Anything => {
            Err(not_json(key, &error))
        }
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "maybe": { "type": ["string", "null"] },
                "count": { "type": "integer" },
                "deep": { "type": "boolean" },
                "tags": { "type": "array" },
                "mode": { "$ref": "#/$defs/Mode" },
                "either": { "anyOf": [{ "type": "integer" }, { "$ref": "#/$defs/Mode" }] },
                "choice": { "enum": ["1", "2"] },
                "loop": { "$ref": "#/$defs/Loop" },
                "free": true,
            },
            "$defs": {
                "Mode": { "oneOf": [{ "const": "1" }, { "const": "true" }] },
                "Loop": { "$ref": "#/$defs/Loop" },
            },
        })
    }

    fn built(json: Option<&str>, pairs: &[&str]) -> Value {
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        let text = Given::read(json, &pairs)
            .unwrap()
            .for_schema(&schema())
            .unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn values_become_what_the_schema_wants() {
        for (pair, value) in [
            ("text=5", json!({ "text": "5" })),
            ("text=a=b", json!({ "text": "a=b" })),
            ("text=", json!({ "text": "" })),
            ("maybe=null", json!({ "maybe": "null" })),
            ("count=5", json!({ "count": 5 })),
            ("count=five", json!({ "count": "five" })),
            ("deep=true", json!({ "deep": true })),
            ("tags=[1]", json!({ "tags": [1] })),
            ("mode=1", json!({ "mode": "1" })),
            ("either=1", json!({ "either": "1" })),
            ("choice=2", json!({ "choice": "2" })),
            ("free=true", json!({ "free": true })),
            ("free=[x", json!({ "free": "[x" })),
            ("loop=1", json!({ "loop": 1 })),
            ("unknown=1", json!({ "unknown": 1 })),
            ("unknown=word", json!({ "unknown": "word" })),
            ("text:=5", json!({ "text": 5 })),
            ("maybe:=null", json!({ "maybe": null })),
        ] {
            assert_eq!(built(None, &[pair]), value, "{pair}");
        }
    }

    #[test]
    fn single_arguments_win_over_the_whole() {
        let whole = Some(r#"{"text":"a","count":1}"#);
        let both = built(whole, &["count=2", "deep=false"]);
        assert_eq!(both, json!({ "text": "a", "count": 2, "deep": false }));
    }

    #[test]
    fn json_alone_is_passed_on_as_it_is() {
        let text = r#" {"a":1,"a":2} "#;
        let given = Given::read(Some(text), &[]).unwrap();
        assert_eq!(given.for_schema(&schema()).unwrap(), text);
    }

    #[test]
    fn what_is_no_argument_is_a_fault_of_usage() {
        for pair in ["text", "=5", ":=5", "tags:=[", "text=@/does/not/exist"] {
            let failure = Given::read(None, &[pair.to_owned()]).unwrap_err();
            assert_eq!(failure.exit(), Exit::Usage, "{pair}");
        }
        let given = Given::read(None, &["tags=[1,".to_owned()]).unwrap();
        assert!(
            given
                .for_schema(&schema())
                .unwrap_err()
                .render(false, false)
                .contains("no JSON")
        );
        let twice = ["text=a".to_owned(), "text=b".to_owned()];
        assert!(
            Given::read(None, &twice)
                .unwrap_err()
                .render(false, false)
                .contains("twice")
        );
        let given = Given::read(Some("[1]"), &["text=a".to_owned()]).unwrap();
        assert!(
            given
                .for_schema(&schema())
                .unwrap_err()
                .render(false, false)
                .contains("[1]")
        );
    }
}

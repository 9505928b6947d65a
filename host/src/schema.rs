//! JSON Schemas of tools: whether one may be used, and whether a value fits it.
//!
//! Invariant: a schema comes from a module and may be hostile. It reaches no file and no
//! network, and a schema that could make validation explode is refused when it is loaded.

use std::collections::HashMap;

use jsonschema::PatternOptions;
use serde_json::Value;

use crate::model::ArgumentFault;

/// Sub-schemas that may apply after every `$ref` is followed. A few hundred is usual.
const MAX_EXPANSION: u64 = 50_000;
/// Steps that a backtracking pattern may take on one value.
const MAX_PATTERN_STEPS: usize = 100_000;
/// Bytes that a compiled pattern may have.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Faults of one value that are told.
const MAX_FAULTS: usize = 8;
/// Characters of one fault: a fault quotes the value it is about.
const MAX_FAULT_CHARS: usize = 300;

/// A schema that is ready to check values.
#[derive(Debug)]
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Compiles a schema. [`check`] has accepted it before.
    ///
    /// # Errors
    ///
    /// What is wrong with the schema, as the end of a sentence.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_PATTERN_STEPS)
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES);
        jsonschema::options()
            .with_pattern_options(patterns)
            .build(schema)
            .map(Self)
            .map_err(|error| format!("is no valid JSON Schema: {}", cut(&error.to_string())))
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Each place where the value does not fit, up to a bound.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<ArgumentFault>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        Err(self
            .0
            .iter_errors(value)
            .take(MAX_FAULTS)
            .map(|error| ArgumentFault {
                path: error.instance_path().to_string(),
                message: cut(&error.to_string()),
            })
            .collect())
    }
}

/// Whether a schema may describe a tool's arguments or structured answer.
///
/// # Errors
///
/// Why not, as the end of a sentence that begins with the schema's name.
pub fn check(schema: &Value) -> Result<(), String> {
    let Some(root) = schema.as_object() else {
        return Err("is no object".into());
    };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return Err(r#"must have `"type": "object"` at its root"#.into());
    }
    check_references(schema)?;
    if Expansion::new(schema).of_root() > MAX_EXPANSION {
        return Err("repeats itself through `$ref` too often to be checked in bounded time".into());
    }
    Validator::new(schema).map(drop)
}

/// Only references inside of the schema are followed.
fn check_references(schema: &Value) -> Result<(), String> {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")
                    && let Some(target) = value.as_str()
                    && !target.starts_with('#')
                {
                    return Err(format!("refers to `{}`; only `#…` is allowed", cut(target)));
                }
                check_references(value)?;
            }
            Ok(())
        }
        Value::Array(values) => values.iter().try_for_each(check_references),
        _ => Ok(()),
    }
}

/// Counts sub-schemas with every `$ref` followed, without following any twice.
struct Expansion<'a> {
    root: &'a Value,
    /// Size behind each reference; `None` while it is being counted.
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Expansion<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            known: HashMap::new(),
        }
    }

    fn of_root(&mut self) -> u64 {
        self.of(self.root)
    }

    fn of(&mut self, schema: &'a Value) -> u64 {
        match schema {
            Value::Object(map) => {
                let mut sum = 1_u64;
                for (key, value) in map {
                    let more = match value.as_str() {
                        Some(target) if key == "$ref" => self.behind(target),
                        _ => self.of(value),
                    };
                    sum = sum.saturating_add(more);
                }
                sum
            }
            Value::Array(values) => values
                .iter()
                .fold(0, |sum, value| sum.saturating_add(self.of(value))),
            _ => 0,
        }
    }

    fn behind(&mut self, target: &'a str) -> u64 {
        match self.known.get(target) {
            Some(Some(size)) => return *size,
            // A cycle: how often it is followed is up to the value's own depth.
            Some(None) => return 1,
            None => {}
        }
        self.known.insert(target, None);
        let pointer = target.strip_prefix('#').unwrap_or_default();
        let size = self
            .root
            .pointer(pointer)
            .map_or(1, |schema| self.of(schema));
        self.known.insert(target, Some(size));
        size
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_FAULT_CHARS {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(MAX_FAULT_CHARS).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ordinary_schema_is_accepted_and_applied() {
        let schema = json!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "n": { "type": "integer" } },
            "required": ["text"],
            "additionalProperties": false,
        });
        check(&schema).unwrap();
        let validator = Validator::new(&schema).unwrap();
        validator.validate(&json!({"text": "a", "n": 1})).unwrap();
        let faults = validator.validate(&json!({"n": "5", "m": 1})).unwrap_err();
        assert!(faults.iter().any(|fault| fault.path == "/n"), "{faults:?}");
        assert!(
            faults.iter().any(|fault| fault.message.contains("text")),
            "{faults:?}"
        );
    }

    #[test]
    fn schemas_that_are_none_are_refused_with_the_reason() {
        for (schema, reason) in [
            (json!("object"), "no object"),
            (json!({}), "\"type\": \"object\""),
            (json!({"type": "array"}), "\"type\": \"object\""),
            (
                json!({"type": "object", "properties": {"a": {"type": 12}}}),
                "no valid JSON Schema",
            ),
            (
                json!({"type": "object", "$ref": "file:///etc/passwd"}),
                "file:///etc/passwd",
            ),
            (
                json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
                "no valid JSON Schema",
            ),
        ] {
            let error = check(&schema).unwrap_err();
            assert!(error.contains(reason), "{schema}: {error}");
        }
    }

    #[test]
    fn a_schema_that_doubles_with_each_reference_is_refused() {
        let mut definitions = serde_json::Map::new();
        for level in 0..40 {
            let next = format!("#/$defs/l{}", level + 1);
            definitions.insert(
                format!("l{level}"),
                json!({"allOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        definitions.insert("l40".into(), json!({"type": "object"}));
        let schema = json!({"type": "object", "$ref": "#/$defs/l0", "$defs": definitions});
        assert!(check(&schema).unwrap_err().contains("$ref"));
    }

    #[test]
    fn a_recursive_schema_is_accepted() {
        let schema = json!({
            "type": "object",
            "properties": { "tree": { "$ref": "#/$defs/node" } },
            "$defs": { "node": {
                "type": "object",
                "properties": { "left": { "$ref": "#/$defs/node" }, "right": { "$ref": "#/$defs/node" } },
                "additionalProperties": false,
            } },
        });
        check(&schema).unwrap();
        let validator = Validator::new(&schema).unwrap();
        validator
            .validate(&json!({"tree": {"left": {"right": {}}}}))
            .unwrap();
        validator
            .validate(&json!({"tree": {"left": {"middle": {}}}}))
            .unwrap_err();
    }

    #[test]
    fn a_pattern_that_backtracks_for_ever_ends() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "string", "pattern": "^(?=a)(a+)+$" } },
        });
        check(&schema).unwrap();
        let text = format!("{}!", "a".repeat(64));
        Validator::new(&schema)
            .unwrap()
            .validate(&json!({ "a": text }))
            .unwrap_err();
    }
}

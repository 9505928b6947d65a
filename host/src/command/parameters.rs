//! The parameters of a tool made of a command: a JSON Schema, or the short form of one.
//!
//! The short form is a table of properties. Each is a JSON Schema, and `required = true`
//! in it stands for its name in the list `required`; other names than these are refused.

use serde_json::{Map, Value, json};

/// Keywords of JSON Schema that describe one property of a short form.
const KEYWORDS: [&str; 32] = [
    "type",
    "description",
    "title",
    "default",
    "examples",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "properties",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "deprecated",
    "$comment",
];
const TYPES: [&str; 7] = [
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// What a tool takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    schema: Value,
    defaults: Vec<(String, Value)>,
}

/// What is wrong with parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParameterError {
    /// In words.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Parameters {
    /// From what stands under `parameters`: a JSON Schema, whose `type` is a text, or the
    /// short form.
    ///
    /// # Errors
    ///
    /// A short form that is none.
    pub fn read(written: &Map<String, Value>) -> Result<Self, Vec<ParameterError>> {
        let is_schema = match written.get("type") {
            Some(kind) => kind.is_string(),
            None => written.get("$schema").is_some_and(Value::is_string),
        };
        if is_schema {
            return Ok(Self::of_schema(Value::Object(written.clone())));
        }
        let mut errors = Vec::new();
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, property) in written {
            match short_property(name, property) {
                Ok((schema, is_required)) => {
                    properties.insert(name.clone(), schema);
                    if is_required {
                        required.push(name.as_str());
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self::of_properties(&properties, &required))
    }

    /// Required texts of these names: what a template alone says.
    pub fn of_names(names: &[&str], flags: &[&str]) -> Self {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for name in names {
            let is_flag = flags.contains(name);
            let kind = if is_flag { "boolean" } else { "string" };
            properties.insert((*name).to_owned(), json!({ "type": kind }));
            if !is_flag {
                required.push(*name);
            }
        }
        Self::of_properties(&properties, &required)
    }

    /// Whatever a caller gives, for a program that reads it itself.
    pub fn any() -> Self {
        Self::of_schema(json!({ "type": "object" }))
    }

    fn of_properties(properties: &Map<String, Value>, required: &[&str]) -> Self {
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        Self::of_schema(schema)
    }

    /// A whole JSON Schema.
    pub fn of_schema(schema: Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let defaults = properties
            .into_iter()
            .flatten()
            .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())));
        let defaults = defaults.collect();
        Self { schema, defaults }
    }

    /// As JSON Schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The names of the properties that the schema speaks of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
    }

    /// The type of a property, where it has exactly one.
    pub fn kind(&self, name: &str) -> Option<&str> {
        self.schema
            .get("properties")?
            .get(name)?
            .get("type")?
            .as_str()
    }

    /// The values of properties that a caller left out.
    pub fn defaults(&self) -> &[(String, Value)] {
        &self.defaults
    }
}

fn short_property(name: &str, property: &Value) -> Result<(Value, bool), ParameterError> {
    let error = |message: String, help: &str| ParameterError {
        message,
        help: help.to_owned(),
    };
    let example =
        r#"write for instance `{ type = "string", required = true, description = "..." }`"#;
    let Value::Object(property) = property else {
        return Err(error(
            format!("the parameter `{name}` is no table"),
            example,
        ));
    };
    let mut schema = property.clone();
    let required = match schema.shift_remove("required") {
        None => false,
        Some(Value::Bool(required)) => required,
        Some(_) => {
            return Err(error(
                format!("`required` of the parameter `{name}` is neither `true` nor `false`"),
                "for a JSON Schema with a list `required`, write `type = \"object\"` and `properties` under `parameters`",
            ));
        }
    };
    if let Some(odd) = schema.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        let help = format!("keywords are `required`, `{}`", KEYWORDS[..12].join("`, `"));
        return Err(error(
            format!("the parameter `{name}` has an unknown keyword `{odd}`"),
            &help,
        ));
    }
    match schema.get("type") {
        Some(Value::String(kind)) if !TYPES.contains(&kind.as_str()) => Err(error(
            format!("the parameter `{name}` has an unknown type `{kind}`"),
            &format!("types are `{}`", TYPES.join("`, `")),
        )),
        None if !["enum", "const", "anyOf", "oneOf", "allOf"]
            .iter()
            .any(|key| schema.contains_key(*key)) =>
        {
            Err(error(
                format!("the parameter `{name}` has no `type`"),
                example,
            ))
        }
        _ => Ok((Value::Object(schema), required)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: Value) -> Result<Parameters, String> {
        let Value::Object(written) = written else {
            panic!("parameters are a table");
        };
        Parameters::read(&written).map_err(|errors| errors[0].message.clone())
    }

    #[test]
    fn the_short_form_becomes_a_schema() {
        let parameters = read(json!({
            "path": { "type": "string", "required": true, "description": "file to check" },
            "type": { "type": "string", "enum": ["a", "b"], "default": "a" },
        }));
        let parameters = parameters.unwrap();
        assert_eq!(
            parameters.schema(),
            &json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "file to check" },
                    "type": { "type": "string", "enum": ["a", "b"], "default": "a" },
                },
                "required": ["path"],
                "additionalProperties": false,
            })
        );
        assert_eq!(parameters.defaults(), [("type".to_owned(), json!("a"))]);
    }

    #[test]
    fn a_schema_stays_what_it_is() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        assert_eq!(read(schema.clone()).unwrap().schema(), &schema);
    }

    #[test]
    fn slips_in_the_short_form_are_named() {
        for (written, message) in [
            (json!({ "a": "string" }), "the parameter `a` is no table"),
            (
                json!({ "a": { "type": "strng" } }),
                "the parameter `a` has an unknown type `strng`",
            ),
            (
                json!({ "a": { "type": "string", "requird": true } }),
                "the parameter `a` has an unknown keyword `requird`",
            ),
            (
                json!({ "a": { "type": "string", "required": "yes" } }),
                "`required` of the parameter `a` is neither `true` nor `false`",
            ),
            (
                json!({ "a": { "description": "?" } }),
                "the parameter `a` has no `type`",
            ),
        ] {
            assert_eq!(read(written).unwrap_err(), message);
        }
    }
}

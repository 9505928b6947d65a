//! Prompts: texts with places for arguments, and tools that answer with messages.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use super::arguments::{choices, property, typed};
use crate::config::{PromptEntry, PromptParameter, PromptSource, nearest};
use crate::registry::{Snapshot, Tool};

/// The prompts of one configuration.
pub(in crate::mcp) struct Prompts {
    entries: BTreeMap<String, PromptEntry>,
    /// Those whose tool is there, as clients list them.
    pub listed: BTreeMap<String, Prompt>,
}

/// What makes the messages of a prompt.
pub(in crate::mcp) enum Making<'p> {
    /// One message of the user.
    Text(String),
    /// A tool with its arguments.
    Tool { tool: &'p str, arguments: String },
}

impl Prompts {
    pub fn new(entries: &[PromptEntry], snapshot: &Snapshot) -> Self {
        let listed = entries.iter().filter_map(|entry| {
            let mut description = entry.description.as_ref().map(|text| text.value.clone());
            let arguments = match &entry.source {
                PromptSource::Text { arguments, .. } => {
                    arguments.value.iter().map(of_parameter).collect()
                }
                // Its arguments are not known until its tool is.
                PromptSource::Tool { tool } => {
                    let tool = snapshot.tool(&tool.value)?;
                    description.get_or_insert_with(|| tool.spec().description.clone());
                    of_tool(tool)
                }
            };
            let mut listed = Prompt::new(entry.name.clone(), description, Some(arguments));
            listed.title = entry.title.as_ref().map(|text| text.value.clone());
            Some((entry.name.clone(), listed))
        });
        Self {
            listed: listed.collect(),
            entries: entries
                .iter()
                .map(|entry| (entry.name.clone(), entry.clone()))
                .collect(),
        }
    }

    fn entry(&self, name: &str) -> Result<&PromptEntry, ErrorData> {
        self.entries.get(name).ok_or_else(|| {
            let known = self.entries.keys().map(String::as_str);
            let near = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_default();
            ErrorData::invalid_params(format!("unknown prompt `{}`{near}", shown(name)), None)
        })
    }

    /// What makes the messages of a prompt with these arguments.
    ///
    /// # Errors
    ///
    /// There is no such prompt, or all that is wrong with the arguments.
    pub fn make(
        &self,
        name: &str,
        arguments: JsonObject,
        snapshot: &Snapshot,
    ) -> Result<Making<'_>, ErrorData> {
        match &self.entry(name)?.source {
            PromptSource::Text {
                text,
                arguments: known,
            } => {
                let values = checked(name, &known.value, &arguments)?;
                let value = |name: &str| values.get(name).copied();
                Ok(Making::Text(text.value.text_with(value)))
            }
            PromptSource::Tool { tool } => {
                let schema = snapshot.tool(&tool.value);
                let schema = schema.map(|tool| &tool.spec().input_schema);
                let typed = arguments.into_iter().map(|(name, value)| {
                    let property = schema.and_then(|schema| property(schema, &name));
                    let value = match value {
                        Value::String(text) => typed(property, text),
                        value => value,
                    };
                    (name, value)
                });
                Ok(Making::Tool {
                    tool: &tool.value,
                    arguments: Value::Object(typed.collect()).to_string(),
                })
            }
        }
    }

    /// The few values that an argument has; none: any text.
    ///
    /// # Errors
    ///
    /// There is no such prompt, or it has no such argument.
    pub fn choices(
        &self,
        name: &str,
        argument: &str,
        snapshot: &Snapshot,
    ) -> Result<Vec<String>, ErrorData> {
        let unknown = || {
            let text = format!("the prompt `{name}` has no argument `{}`", shown(argument));
            ErrorData::invalid_params(text, None)
        };
        match &self.entry(name)?.source {
            PromptSource::Text { arguments, .. } => {
                let mut known = arguments.value.iter();
                let known = known.find(|known| known.name == argument);
                Ok(known.ok_or_else(unknown)?.choices.clone())
            }
            PromptSource::Tool { tool } => match snapshot.tool(&tool.value) {
                Some(tool) => property(&tool.spec().input_schema, argument)
                    .map(choices)
                    .ok_or_else(unknown),
                // One that is still being compiled.
                None => Ok(Vec::new()),
            },
        }
    }
}

fn of_parameter(parameter: &PromptParameter) -> PromptArgument {
    let mut argument = PromptArgument::new(parameter.name.clone());
    argument.title.clone_from(&parameter.title);
    argument.description.clone_from(&parameter.description);
    argument.required = Some(parameter.required && parameter.default.is_none());
    argument
}

fn of_tool(tool: &Tool) -> Vec<PromptArgument> {
    let schema = &tool.spec().input_schema;
    let required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, property)| {
            let text = |key: &str| property.get(key)?.as_str().map(str::to_owned);
            let mut argument = PromptArgument::new(name.clone());
            argument.title = text("title");
            argument.description = text("description");
            argument.required = Some(required(name));
            argument
        })
        .collect()
}

/// The values of a prompt's arguments, or all that is wrong with them.
fn checked<'v>(
    prompt: &str,
    known: &'v [PromptParameter],
    given: &'v JsonObject,
) -> Result<BTreeMap<&'v str, &'v str>, ErrorData> {
    let (mut values, mut faults) = (BTreeMap::new(), Vec::new());
    for parameter in known {
        let name = parameter.name.as_str();
        let value = match given.get(name) {
            None | Some(Value::Null) => match &parameter.default {
                Some(default) => default.as_str(),
                None if parameter.required => {
                    faults.push(format!("`{name}` is missing"));
                    continue;
                }
                None => continue,
            },
            Some(Value::String(text)) => text,
            Some(_) => {
                faults.push(format!("`{name}` is no text"));
                continue;
            }
        };
        if !parameter.choices.is_empty() && !parameter.choices.iter().any(|known| known == value) {
            let choices = parameter.choices.join("`, `");
            faults.push(format!("`{name}` is none of `{choices}`"));
            continue;
        }
        values.insert(name, value);
    }
    let names = || known.iter().map(|parameter| parameter.name.as_str());
    for name in given
        .keys()
        .filter(|name| !names().any(|known| known == *name))
    {
        let near = nearest(name, names()).map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_default();
        faults.push(format!("there is no argument `{}`{near}", shown(name)));
    }
    if faults.is_empty() {
        return Ok(values);
    }
    let text = format!(
        "the arguments do not fit the prompt `{prompt}`: {}",
        faults.join(", ")
    );
    Err(ErrorData::invalid_params(text, None))
}

/// A name of a client, short and on one line.
fn shown(name: &str) -> String {
    name.chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect()
}

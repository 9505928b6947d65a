//! Tools in the forms in which models are told of them, for programs that speak to a model
//! themselves.

use rmcp::model::Tool as Listed;
use serde_json::{Map, Value, json};

use super::ToolFilter;
use super::listing::Listing;
use crate::host::Host;
use crate::lint;

/// A form of tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFormat {
    /// `tools/list` of the Model Context Protocol.
    Mcp,
    /// `tools` of the chat completions of `OpenAI`.
    OpenAi,
    /// `tools` of Anthropic's messages.
    Anthropic,
}

impl Host {
    /// The tools of this moment in one of these forms: an array that goes into a request
    /// as it is. What a model answers is called by the same names.
    ///
    /// `OpenAI`'s and Anthropic's forms have schemas that those APIs take: see
    /// [`lint::for_api`]. Calls are held against the author's own schemas all the same.
    pub fn tool_definitions(&self, format: ToolFormat, filter: &ToolFilter) -> Vec<Value> {
        let listing = Listing::new(&self.snapshot(), filter);
        let tools = listing.tools().map(|tool| {
            if format == ToolFormat::Mcp {
                return serde_json::to_value(tool).unwrap_or_default();
            }
            let (description, parameters) = for_api(tool);
            if format == ToolFormat::OpenAi {
                json!({
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": description,
                        "parameters": parameters,
                    },
                })
            } else {
                json!({
                    "name": tool.name,
                    "description": description,
                    "input_schema": parameters,
                })
            }
        });
        tools.collect()
    }
}

/// Characters that an API takes as the description of a function.
const MOST: usize = 1024;

/// Description and schema as APIs want them: what the schema can not say there, the
/// description does, shortened where both are too long.
fn for_api(tool: &Listed) -> (String, Map<String, Value>) {
    let schema = Value::Object(Map::clone(&tool.input_schema));
    let repaired = lint::for_api(&schema);
    let said = tool.description.as_deref().unwrap_or_default();
    let more = repaired.sentence().map(|more| format!("\n\n{more}"));
    let more = more.unwrap_or_default();
    let rest = MOST.saturating_sub(more.chars().count());
    let mut description = if said.chars().count() <= rest {
        said.to_owned()
    } else {
        let kept = said.chars().take(rest.saturating_sub(1));
        kept.chain(['…']).collect()
    };
    description.push_str(&more);
    (description, repaired.schema)
}

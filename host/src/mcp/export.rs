//! Tools in the forms in which models are told of them, for programs that speak to a model
//! themselves.

use serde_json::{Map, Value, json};

use super::ToolFilter;
use super::listing::Listing;
use crate::host::Host;

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
    pub fn tool_definitions(&self, format: ToolFormat, filter: &ToolFilter) -> Vec<Value> {
        let listing = Listing::new(&self.snapshot(), filter);
        let tools = listing.tools().map(|tool| {
            let parameters = Value::Object(Map::clone(&tool.input_schema));
            match format {
                ToolFormat::Mcp => serde_json::to_value(tool).unwrap_or_default(),
                ToolFormat::OpenAi => json!({
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": parameters,
                    },
                }),
                ToolFormat::Anthropic => json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": parameters,
                }),
            }
        });
        tools.collect()
    }
}

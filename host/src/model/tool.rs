//! What a tool is: the description that an agent reads before it calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Request;

/// One callable thing: its name, what it does, and the shape of its arguments.
///
/// For a skill this is what `prx:skill/tools.describe` said, after the host checked
/// it: names and sizes are within bounds and both schemas compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Unique within its module; `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
    pub name: String,
    /// A short name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does, for a model.
    pub description: String,
    /// JSON Schema (draft 2020-12) of the arguments.
    pub input_schema: Value,
    /// JSON Schema of [`ToolOutput::structured`](super::ToolOutput::structured).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The author's claims about the tool's behaviour.
    #[serde(default)]
    pub hints: Hints,
    /// What the tool asks the operator for. Asking grants nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
}

/// The tool annotations of the Model Context Protocol; `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// The tool changes nothing outside of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The tool may remove or overwrite something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Calling again with the same arguments has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// The tool reaches things outside of a closed domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

//! What a tool says about itself: plain data, made by `#[tool]`, read by the host.

use schemars::Schema;

/// The description of one tool, as an agent and an operator see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Unique within the skill; `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
    pub name: &'static str,
    /// A short name for people.
    pub title: Option<&'static str>,
    /// What the tool does, for a model that must decide whether to call it.
    pub description: &'static str,
    /// JSON Schema (draft 2020-12) of the arguments.
    pub input_schema: Schema,
    /// JSON Schema of [`Output::structured`](crate::Output::structured), if the tool
    /// always gives it.
    pub output_schema: Option<Schema>,
    /// How the tool behaves, as far as its author knows.
    pub hints: Hints,
    /// What the tool asks the operator for. Asking grants nothing.
    pub requests: &'static [Request],
}

/// The tool annotations of the Model Context Protocol; `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The tool changes nothing outside of itself.
    pub read_only: Option<bool>,
    /// The tool may remove or overwrite something.
    pub destructive: Option<bool>,
    /// Calling again with the same arguments has no further effect.
    pub idempotent: Option<bool>,
    /// The tool reaches things outside of a closed, known domain.
    pub open_world: Option<bool>,
}

/// One thing that a tool asks the operator for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The thing asked for.
    pub capability: Capability,
    /// Why, in one sentence for the operator.
    pub reason: &'static str,
    /// Whether the tool also works, with less comfort, when it is refused.
    pub optional: bool,
}

/// A thing that an operator can grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Read the folder at this guest path.
    ReadFolder(&'static str),
    /// Read and change the folder at this guest path.
    WriteFolder(&'static str),
    /// Read the environment variable of this name.
    Variable(&'static str),
    /// Reach this `host:port`, or `*` for any.
    Network(&'static str),
    /// Keep values between calls through [`state`](crate::state).
    State,
}

//! A host for native tests: what a skill imports, in memory, one per test thread.
//!
//! ```
//! use prx_skill::prelude::*;
//! use prx_skill::testing;
//!
//! /// Count how often this was called.
//! #[tool(state("to remember the count"))]
//! fn visits() -> Result<String, ToolError> {
//!     log::field("by", config::get_or::<String>("who", "nobody")?).info("a visit");
//!     Ok(format!("call number {}", state::increment("visits", 1)?))
//! }
//!
//! prx_skill::skill!(visits);
//!
//! # fn main() {
//! let host = testing::Host::new().config("who", "Ada").state_text("visits", "41");
//!
//! let answer = testing::call(&SKILL, "visits", "{}").unwrap();
//! assert_eq!(answer, Output::from("call number 42"));
//! assert_eq!(host.logs()[0].fields, [("by".to_string(), "Ada".to_string())]);
//!
//! let host = host.state_quota(0);
//! let error = testing::call(&SKILL, "visits", "{}").unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Denied);
//! # drop(host);
//! # }
//! ```

use std::fmt::Display;
use std::marker::PhantomData;

use schemars::Schema;
use serde::Serialize;
use serde_json::Value;

use crate::error::ToolError;
use crate::host::{Memory, with};
use crate::log::Level;
use crate::output::Output;
use crate::progress::Amount;
use crate::skill::Skill;
use crate::tool::ToolSpec;

/// The host of this thread, empty when made and emptied when dropped.
///
/// Skills called without one find no settings and a state of 1 MiB; what they leave
/// behind stays until the thread ends. Only one may exist in a thread at a time.
#[derive(Debug)]
#[must_use = "the host is emptied when this is dropped"]
pub struct Host {
    // The memory belongs to the thread, and so does the handle.
    of_this_thread: PhantomData<*const ()>,
}

/// One message that a skill logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// How grave it is.
    pub level: Level,
    /// The text.
    pub message: String,
    /// Its named values, in order.
    pub fields: Vec<(String, String)>,
}

/// One report of how far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressEntry {
    /// How much is done.
    pub amount: Amount,
    /// What is being done.
    pub message: Option<String>,
}

impl Host {
    /// An empty host: no settings, no state, a quota of 1 MiB, every log level heard.
    #[allow(
        clippy::new_without_default,
        reason = "a default that empties the host surprises"
    )]
    pub fn new() -> Self {
        with(|memory| *memory = Memory::new());
        Self {
            of_this_thread: PhantomData,
        }
    }

    /// Sets one value of `[tools.custom.<name>.config]`.
    ///
    /// # Panics
    ///
    /// When the value has no JSON form.
    pub fn config(self, key: &str, value: impl Serialize) -> Self {
        let json = serde_json::to_string(&value).expect("a setting has a JSON form");
        with(|memory| {
            memory.config.retain(|(name, _)| name != key);
            memory.config.push((key.to_owned(), json));
        });
        self
    }

    /// Sets the quota in bytes (`max_state_kb` × 1024); 0 denies all state.
    pub fn state_quota(self, bytes: u64) -> Self {
        with(|memory| memory.quota = bytes);
        self
    }

    /// Puts a text into the state, whatever the quota.
    pub fn state_text(self, key: &str, text: &str) -> Self {
        with(|memory| memory.state.insert(key.to_owned(), text.into()));
        self
    }

    /// Makes the state answer [`Unavailable`](crate::state::Error::Unavailable).
    pub fn state_outage(self, reason: &str) -> Self {
        with(|memory| memory.outage = Some(reason.to_owned()));
        self
    }

    /// Listens to messages of this level and graver ones only.
    pub fn log_level(self, level: Level) -> Self {
        with(|memory| memory.level = level);
        self
    }

    /// What is in the state under a key.
    pub fn state(&self, key: &str) -> Option<Vec<u8>> {
        with(|memory| memory.state.get(key).cloned())
    }

    /// The messages so far, in order.
    pub fn logs(&self) -> Vec<LogEntry> {
        with(|memory| memory.log.clone())
    }

    /// The reports of progress so far, in order.
    pub fn progress(&self) -> Vec<ProgressEntry> {
        with(|memory| memory.progress.clone())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        with(|memory| *memory = Memory::new());
    }
}

/// Calls a tool by its name with JSON, as a host does: decodes the arguments, runs the
/// function, encodes the answer.
///
/// `arguments` is JSON text, or a [`serde_json::json!`]`({…})` by reference or value (both
/// are [`Display`]). The schema's finer rules (ranges, patterns) are the host's to check,
/// not checked here.
///
/// # Errors
///
/// What the tool says, or `invalid-arguments`.
///
/// # Panics
///
/// When the answer breaks the contract of the WIT package: a structured answer that is
/// no JSON object, or none although the descriptor promises one.
pub fn call(skill: &Skill, name: &str, arguments: impl Display) -> Result<Output, ToolError> {
    let output = skill.call(name, &arguments.to_string())?;
    let promises = skill
        .describe()
        .iter()
        .any(|tool| tool.name == name && tool.output_schema.is_some());
    match &output.structured {
        Some(json) => {
            let value: Value = serde_json::from_str(json).unwrap_or_else(|error| {
                panic!("`{name}` gave a broken structured answer: {error}")
            });
            assert!(
                value.is_object(),
                "`{name}` gave a structured answer that is no object: {json}"
            );
        }
        None => assert!(
            !promises,
            "`{name}` has an output schema and gave no structured answer"
        ),
    }
    Ok(output)
}

/// Describes every tool, and checks what a host would refuse.
///
/// # Panics
///
/// When a name, a description or a schema breaks a rule of the WIT package.
pub fn describe(skill: &Skill) -> Vec<ToolSpec> {
    let tools = skill.describe();
    for (index, tool) in tools.iter().enumerate() {
        let name = tool.name;
        assert!(
            is_tool_name(name),
            "`{name}` is no tool name: a letter, then up to 63 letters, digits, `-` or `_`"
        );
        assert!(
            !tools[..index].iter().any(|other| other.name == name),
            "two tools are named `{name}`"
        );
        assert!(!tool.description.is_empty(), "`{name}` has no description");
        let length = tool.description.chars().count();
        assert!(
            length <= 1024,
            "the description of `{name}` has {length} characters, 1024 are allowed"
        );
        assert_object_schema(name, "input", &tool.input_schema);
        if let Some(schema) = &tool.output_schema {
            assert_object_schema(name, "output", schema);
        }
    }
    tools
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn assert_object_schema(name: &str, which: &str, schema: &Schema) {
    assert!(
        schema.get("type").and_then(Value::as_str) == Some("object"),
        "the {which} schema of `{name}` is not of type object: {}",
        schema.as_value(),
    );
}

//! A skill: its tools, in order, and how a call finds one of them.

use crate::error::ToolError;
use crate::output::Output;
use crate::tool::ToolSpec;

/// What `#[tool]` makes of a function. Not for implementing by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a function with `#[tool]`",
    note = "`skill!` takes the names of functions that carry `#[tool]`"
)]
pub trait Tool {
    /// The name by which it is called.
    const NAME: &'static str;

    /// Says what the tool is. Builds the schemas.
    fn describe() -> ToolSpec;

    /// Decodes the arguments, calls the function, encodes the answer.
    ///
    /// # Errors
    ///
    /// What the function says, or `invalid-arguments`.
    fn call(arguments: &str) -> Result<Output, ToolError>;
}

/// The tools of one module. `skill!` makes one, named `SKILL`.
#[derive(Clone, Copy, Debug)]
pub struct Skill {
    tools: &'static [Entry],
}

/// One tool without its type.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Entry {
    name: &'static str,
    describe: fn() -> ToolSpec,
    call: fn(&str) -> Result<Output, ToolError>,
}

impl Entry {
    #[doc(hidden)]
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            describe: T::describe,
            call: T::call,
        }
    }
}

impl Skill {
    #[doc(hidden)]
    pub const fn new(tools: &'static [Entry]) -> Self {
        Self { tools }
    }

    /// The names of the tools, in the order of `skill!`.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.name)
    }

    /// Describes every tool. This builds the schemas: a host asks once per module.
    pub fn describe(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| (tool.describe)()).collect()
    }

    /// Calls one tool with the text of one JSON object, as a host does.
    ///
    /// # Errors
    ///
    /// What the tool says; `invalid-arguments` for arguments that do not decode;
    /// `not-found` for a name that is none of [`names`](Self::names).
    pub fn call(&self, name: &str, arguments: &str) -> Result<Output, ToolError> {
        match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => (tool.call)(arguments),
            None => Err(ToolError::not_found(format!(
                "this skill has no tool `{name}`; it has {}",
                self.names()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            ))),
        }
    }
}

//! How a call ended. Only `dispatch` makes an [`Outcome`]; only front doors show one.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::json_bytes;
use super::{Capability, Captured, ToolOutput, format_bytes};

/// Everything known about a call that ended.
#[derive(Clone, Debug)]
pub struct CallReport {
    /// How it ended.
    pub outcome: Outcome,
    /// From the call's acceptance to its end.
    pub duration: Duration,
    /// How much of that it waited for a place among the calls that run at one time.
    pub waited: Duration,
    /// What the guest wrote to its standard output, up to the limit.
    pub stdout: Captured,
    /// What the guest wrote to its standard error, up to the limit.
    pub stderr: Captured,
    /// The number of the snapshot that served the call.
    pub snapshot: u64,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The tool answered.
    Ok(ToolOutput),
    /// The tool said no, in its own words.
    ToolError(ToolError),
    /// The arguments do not fit the tool's schema; nothing ran.
    InvalidArguments(Vec<ArgumentFault>),
    /// The call needed something that was not granted.
    Denied(Denial),
    /// The deadline passed; the call was ended.
    TimedOut {
        /// The deadline.
        limit: Duration,
        /// The configuration key that set it, or `the caller`.
        set_by: String,
    },
    /// The guest asked for more memory than it may have.
    OutOfMemory {
        /// The limit, in bytes.
        limit: u64,
        /// The configuration key that set it.
        set_by: String,
    },
    /// Another limit was reached.
    LimitReached {
        /// Which one.
        kind: LimitKind,
        /// Its value: bytes or a count.
        limit: u64,
    },
    /// The guest broke down: a panic, a failed assertion, an invalid instruction.
    Trapped(Trap),
    /// There is no tool of that name.
    UnknownTool {
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// The tool exists but can not run now.
    Unavailable {
        /// Why.
        reason: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// The caller ended the call.
    Cancelled,
    /// The host itself failed. Always a fault worth reporting.
    Internal {
        /// What failed.
        reason: String,
    },
}

/// The kind of an [`Outcome`], for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs, reason = "one for each variant of `Outcome`")]
pub enum OutcomeKind {
    Ok,
    ToolError,
    InvalidArguments,
    Denied,
    TimedOut,
    OutOfMemory,
    LimitReached,
    Trapped,
    UnknownTool,
    Unavailable,
    Cancelled,
    Internal,
}

impl OutcomeKind {
    /// All kinds, in order.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::ToolError,
        Self::InvalidArguments,
        Self::Denied,
        Self::TimedOut,
        Self::OutOfMemory,
        Self::LimitReached,
        Self::Trapped,
        Self::UnknownTool,
        Self::Unavailable,
        Self::Cancelled,
        Self::Internal,
    ];

    /// How a call ended that is dropped now, before it had an outcome.
    pub(crate) fn of_abandoned() -> Self {
        if std::thread::panicking() {
            Self::Internal
        } else {
            Self::Cancelled
        }
    }

    /// In snake case, as programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::InvalidArguments => "invalid_arguments",
            Self::Denied => "denied",
            Self::TimedOut => "timed_out",
            Self::OutOfMemory => "out_of_memory",
            Self::LimitReached => "limit_reached",
            Self::Trapped => "trapped",
            Self::UnknownTool => "unknown_tool",
            Self::Unavailable => "unavailable",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Outcome {
    /// Which kind this is.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Ok(_) => OutcomeKind::Ok,
            Self::ToolError(_) => OutcomeKind::ToolError,
            Self::InvalidArguments(_) => OutcomeKind::InvalidArguments,
            Self::Denied(_) => OutcomeKind::Denied,
            Self::TimedOut { .. } => OutcomeKind::TimedOut,
            Self::OutOfMemory { .. } => OutcomeKind::OutOfMemory,
            Self::LimitReached { .. } => OutcomeKind::LimitReached,
            Self::Trapped(_) => OutcomeKind::Trapped,
            Self::UnknownTool { .. } => OutcomeKind::UnknownTool,
            Self::Unavailable { .. } => OutcomeKind::Unavailable,
            Self::Cancelled => OutcomeKind::Cancelled,
            Self::Internal { .. } => OutcomeKind::Internal,
        }
    }

    /// The answer, if the tool gave one.
    pub fn ok(&self) -> Option<&ToolOutput> {
        match self {
            Self::Ok(output) => Some(output),
            _ => None,
        }
    }

    /// Bytes of what the tool itself answered, well or not.
    pub(crate) fn answer_bytes(&self) -> u64 {
        match self {
            Self::Ok(output) => output.bytes(),
            Self::ToolError(error) => error.bytes(),
            _ => 0,
        }
    }
}

/// What a tool said when it said no.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// Why.
    pub kind: ToolErrorKind,
    /// In the tool's words.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
    /// What the host can add: the folders that are granted, when the guest missed one.
    pub hint: Option<String>,
}

impl ToolError {
    /// Bytes of what it said.
    pub(crate) fn bytes(&self) -> u64 {
        (self.message.len() + self.data.as_ref().map_or(0, json_bytes)) as u64
    }

    /// The tool answered, but not as its interface or its own description promise.
    pub(crate) fn broken_contract(what: impl fmt::Display) -> Self {
        Self {
            kind: ToolErrorKind::Failed,
            message: format!("the skill broke its contract: {what}"),
            data: None,
            hint: Some("this is a fault of the skill; its author must mend it".into()),
        }
    }
}

/// Why a tool said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The arguments fit the schema but not the tool.
    InvalidArguments,
    /// The tool lacks a permission.
    Denied,
    /// What the arguments name does not exist.
    NotFound,
    /// The thing exists already or was changed meanwhile.
    Conflict,
    /// Something the tool depends on does not answer now.
    Unavailable,
    /// Anything else.
    Failed,
}

/// One place where arguments do not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArgumentFault {
    /// JSON Pointer to the place; empty is the whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// What was missing when a call was denied.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    /// The missing permission, where the host saw it.
    pub capability: Option<Capability>,
    /// What happened.
    pub message: String,
    /// What an operator can write into the configuration.
    pub help: Option<String>,
}

/// A limit other than time and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Bytes of an answer.
    OutputBytes,
    /// Bytes of the arguments.
    ArgumentBytes,
    /// Elements of all tables.
    TableElements,
    /// Instances, memories or tables of a component.
    Instances,
    /// Seconds of processor time.
    CpuSeconds,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutputBytes => "answer size",
            Self::ArgumentBytes => "argument size",
            Self::TableElements => "table elements",
            Self::Instances => "instances",
            Self::CpuSeconds => "processor time",
        })
    }
}

impl LimitKind {
    /// A value of this limit, with its unit.
    pub fn format(self, value: u64) -> String {
        match self {
            Self::OutputBytes | Self::ArgumentBytes => format_bytes(value),
            Self::TableElements | Self::Instances => value.to_string(),
            Self::CpuSeconds => format!("{value} s"),
        }
    }
}

/// How a guest broke down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// What kind of breakdown it was.
    pub kind: TrapKind,
    /// What the engine said, in one line.
    pub message: String,
    /// The innermost frames, innermost first; for the author.
    pub backtrace: Vec<String>,
}

/// What kind of breakdown a trap was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TrapKind {
    /// The guest's stack was exhausted, usually by endless recursion.
    StackOverflow,
    /// The guest gave up: a panic, an abort, `unreachable`.
    Unreachable,
    /// The guest called `exit`.
    Exit,
    /// Access outside of memory, division by zero and the like.
    Fault,
    /// A process was ended by a signal that the host did not send.
    Signal,
}

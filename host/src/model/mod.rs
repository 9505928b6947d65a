//! Plain data that every part of the host speaks: tools, contents, grants, outcomes.
//! Depends on nothing else in the crate and does no work beyond its own shape.

mod call;
mod captured;
mod content;
mod counters;
mod grants;
mod outcome;
mod shown;
mod tool;
mod units;
mod uri_template;

pub use call::{CallOptions, Event, EventSink, LogLevel, Progress};
pub use captured::Captured;
pub use content::{Content, EmbeddedResource, Media, ResourceBody, ToolOutput};
pub use counters::{Counters, Counts, LATENCY_BOUNDS, Latencies};
pub use grants::{Access, Capability, FolderGrant, Grants, HostPattern, HostPatternError, Request};
pub use outcome::{
    ArgumentFault, CallReport, Denial, LimitKind, Outcome, OutcomeKind, ToolError, ToolErrorKind,
    Trap, TrapKind,
};
pub use shown::{InOneLine, Shown, is_disturbing};
pub use tool::{Hints, ToolSpec};
pub(crate) use units::as_rfc3339;
pub use units::format_bytes;
pub use uri_template::{UriTemplate, UriTemplateError};

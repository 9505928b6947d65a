//! What a caller may say about one call, and what it may hear while the call runs.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

/// Options of one call. The default is the tool's configured limits and no events.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// A deadline for this call. It can only shorten the configured one.
    pub timeout: Option<Duration>,
    /// Ends the call when cancelled. Dropping the call's future does the same.
    pub cancel: Option<CancellationToken>,
    /// Hears what happens during the call.
    pub events: Option<EventSink>,
    /// Who calls, by its own word, for the log and for [`HostEvent`](crate::events::HostEvent)s:
    /// the name of an MCP client, or of a program. Nothing is decided by it.
    pub client: Option<Arc<str>>,
    /// How long the call was kept waiting before the host was asked, for the same readers.
    pub waited: Duration,
}

/// Receives [`Event`]s on the call's own thread: it must return at once.
pub type EventSink = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// Something that happened during a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A log message of the guest.
    Log {
        /// How grave it is.
        level: LogLevel,
        /// The message.
        message: &'a str,
        /// Named values.
        fields: &'a [(String, String)],
    },
    /// How far the call has come.
    Progress(Progress<'a>),
    /// Bytes that the guest wrote to its standard output. For a skill that is
    /// chatter: its answer is the call's result.
    Stdout(&'a [u8]),
    /// Bytes that the guest wrote to its standard error.
    Stderr(&'a [u8]),
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// How much is done; never goes backwards within a call.
    pub done: f64,
    /// How much there is to do, where known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<&'a str>,
}

/// From the finest to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Finest.
    Trace,
    /// For the author.
    Debug,
    /// Ordinary.
    Info,
    /// Unusual.
    Warn,
    /// Something failed.
    Error,
}

impl LogLevel {
    /// Lower case, as in `RUST_LOG`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

//! What happens in a host, as values: calls, snapshots, configurations. Front doors write
//! none of it themselves, so whoever subscribes hears of every call, whoever made it.
//!
//! Invariants: an event never has arguments, contents or secrets in it. Whoever hears too
//! slowly loses events and is told how many; no call ever waits for a subscriber.

mod call;
mod reloads;
mod stream;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};

pub(crate) use call::CallWatch;
pub use reloads::Reloads;
pub(crate) use reloads::{ReloadCounters, of_broken};
pub(crate) use stream::EventStream;
pub use stream::{Events, Heard};

use crate::model::OutcomeKind;
use crate::registry::Broken;
use crate::reload::Change;

/// Something that happened. As JSON it is an object whose `event` says which; an audit
/// file can have one in each line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HostEvent {
    /// A call began.
    CallBegan(CallBegan),
    /// A call ended. Each call that began ends once, also if its caller went away.
    CallEnded(CallEnded),
    /// Another snapshot is in force.
    Snapshot(Arc<Change>),
    /// A tool, an entry or the module folder is broken now, and was not, or not in this
    /// way.
    Broken(Broken),
    /// What was broken is so no more: it serves in its latest version, or it is gone.
    Mended(Mended),
    /// Another configuration is in force.
    ConfigurationTaken(ConfigurationTaken),
    /// The configuration file is faulty, and the last good one stays in force.
    ConfigurationRefused(ConfigurationRefused),
}

/// A call that began.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallBegan {
    /// Counts the calls of this host, from 1.
    pub call: u64,
    /// When.
    #[serde(serialize_with = "crate::model::as_rfc3339")]
    pub at: SystemTime,
    /// The name that was called. One that is no tool's is cut and escaped: it may be
    /// anything.
    pub tool: String,
    /// Who calls, by its own word; see [`CallOptions::client`](crate::model::CallOptions::client).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// Bytes of the arguments.
    pub argument_bytes: u64,
}

/// A call that ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallEnded {
    /// The number that it began with.
    pub call: u64,
    /// When.
    #[serde(serialize_with = "crate::model::as_rfc3339")]
    pub at: SystemTime,
    /// The name that was called, as in [`CallBegan::tool`].
    pub tool: String,
    /// SHA-256 of the module that answered, in hexadecimal; `None` for commands that are
    /// none, and for unknown tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The number of the snapshot that served it.
    pub snapshot: u64,
    /// Who called, by its own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// From the call's acceptance by the host to its end.
    #[serde(rename = "duration_us", serialize_with = "microseconds")]
    pub duration: Duration,
    /// How long it waited for a place among the calls that run at one time: in front of the
    /// host, which is not part of [`duration`](Self::duration), and in it, which is.
    #[serde(rename = "waited_us", serialize_with = "microseconds")]
    pub waited: Duration,
    /// Bytes of the arguments.
    pub argument_bytes: u64,
    /// Bytes of the answer's contents and structure, or of the tool's own error; of a
    /// command, whose answer is what it prints, the same bytes as in
    /// [`stdout_bytes`](Self::stdout_bytes).
    pub answer_bytes: u64,
    /// Bytes that went to standard output, also those beyond the limit.
    pub stdout_bytes: u64,
    /// Bytes that went to standard error, also those beyond the limit.
    pub stderr_bytes: u64,
}

/// Something that is broken no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mended {
    /// The name that it was broken under.
    pub name: String,
    /// Its module, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<PathBuf>,
    /// The first snapshot without it.
    pub snapshot: u64,
}

/// A configuration that is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigurationTaken {
    /// The file that it was read from.
    pub file: Option<PathBuf>,
    /// SHA-256 of its text, in hexadecimal.
    pub version: Option<String>,
    /// What it says and only a restart will bring.
    pub needs_restart: Vec<String>,
}

/// A configuration file that can not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfigurationRefused {
    /// The file.
    pub file: Option<String>,
    /// Everything that is wrong with it.
    pub reason: String,
}

fn microseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

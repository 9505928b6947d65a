//! What a host says of itself. Plain data, written and read as JSON.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::model::Counts;
use crate::registry::{Snapshot, Started};
use crate::reload::Change;

/// What a running host says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its process.
    pub pid: u32,
    /// When it was opened, as RFC 3339 says it.
    pub started: String,
    /// Its configuration file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The number of its snapshot.
    pub snapshot: u64,
    /// Since when it is in force.
    pub since: String,
    /// Milliseconds that the latest reload took.
    pub reload_ms: u64,
    /// Its tools, by name.
    pub tools: Vec<NoticeTool>,
    /// What is broken, also where an earlier version serves.
    pub broken: Vec<NoticeFault>,
    /// What of the configuration needs a restart.
    #[serde(default)]
    pub needs_restart: Vec<String>,
}

/// One tool of a running host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeTool {
    /// Its name.
    pub name: String,
    /// What runs it.
    pub backend: String,
    /// SHA-256 of its module; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Since when this version serves.
    pub since: String,
    /// Its calls so far.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Something that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeFault {
    /// The entry's name, or what it is in brackets.
    pub name: String,
    /// What is wrong.
    pub reason: String,
    /// The last good version, where one serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<NoticeServing>,
}

/// A version that serves in the place of a broken one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeServing {
    /// SHA-256 of its module; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Since when.
    pub since: String,
}

impl Notice {
    /// What this process says of a snapshot.
    pub(crate) fn of(
        opened: SystemTime,
        config: Option<String>,
        snapshot: &Snapshot,
        latest: &Change,
    ) -> Self {
        let tools = snapshot.tools().map(|tool| NoticeTool {
            name: tool.name().to_owned(),
            backend: tool.entry().backend().as_str().to_owned(),
            version: tool.entry().version(),
            since: moment(tool.entry().started().at),
            counts: tool.counters().counts(),
        });
        let since = |started: Started| moment(started.at);
        let broken = snapshot.broken().iter().map(|broken| NoticeFault {
            name: broken.name.clone(),
            reason: broken.reason.clone(),
            serving: broken.serving.as_ref().map(|serving| NoticeServing {
                version: serving.version.clone(),
                since: since(serving.since),
            }),
        });
        Self {
            pid: std::process::id(),
            started: moment(opened),
            config,
            snapshot: snapshot.number(),
            since: moment(latest.at),
            reload_ms: u64::try_from(latest.took.as_millis()).unwrap_or(u64::MAX),
            tools: tools.collect(),
            broken: broken.collect(),
            needs_restart: latest.needs_restart.clone(),
        }
    }
}

/// Milliseconds are for what happens within a second of another.
fn moment(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

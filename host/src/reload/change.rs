//! What differs between one snapshot and the next, in the words of those who use tools.

use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::registry::{Broken, Snapshot};

/// What a new snapshot brought. Somebody who misses one can compare snapshots himself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The number of the snapshot.
    pub snapshot: u64,
    /// When it took the place of the one before.
    #[serde(serialize_with = "crate::model::as_rfc3339")]
    pub at: SystemTime,
    /// What making it took.
    pub took: Duration,
    /// Tools that were not there before.
    pub added: Vec<String>,
    /// Tools that are another version, or have other grants, limits or descriptions.
    pub changed: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Everything that is broken now, also where an earlier version serves.
    pub broken: Vec<Broken>,
    /// What the configuration says and only a restart will bring.
    pub needs_restart: Vec<String>,
}

impl Change {
    /// The change from one snapshot to another.
    pub(crate) fn between(old: &Snapshot, new: &Snapshot, took: Duration) -> Self {
        let mut change = Self {
            took,
            ..Self::first(new)
        };
        change.added.clear();
        for tool in new.tools() {
            match old.tool(tool.name()) {
                None => change.added.push(tool.name().to_owned()),
                Some(before) if !before.means_the_same(tool) => {
                    change.changed.push(tool.name().to_owned());
                }
                Some(_) => {}
            }
        }
        let gone = old
            .tools()
            .filter(|tool| new.tool(tool.name()).is_none())
            .map(|tool| tool.name().to_owned());
        change.removed.extend(gone);
        change
    }

    /// The snapshot that a host begins with: everything in it is new.
    pub(crate) fn first(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.number(),
            at: SystemTime::now(),
            took: Duration::ZERO,
            added: snapshot
                .tools()
                .map(|tool| tool.name().to_owned())
                .collect(),
            changed: Vec::new(),
            removed: Vec::new(),
            broken: snapshot.broken().to_vec(),
            needs_restart: Vec::new(),
        }
    }

    /// Whether a client that has a list of the tools has an old one now.
    pub fn changes_tools(&self) -> bool {
        !(self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty())
    }

    /// Tells the log.
    pub(crate) fn log(&self, before: &[Broken]) {
        tracing::info!(
            snapshot = self.snapshot,
            added = self.added.join(" "),
            changed = self.changed.join(" "),
            removed = self.removed.join(" "),
            took_ms = self.took.as_millis(),
            "tools were loaded anew"
        );
        let news = self.broken.iter().filter(|broken| !before.contains(broken));
        for Broken {
            name,
            reason,
            serving,
            ..
        } in news
        {
            if let Some(serving) = serving {
                let (version, since) = (&serving.version, serving.since.snapshot);
                tracing::warn!(
                    tool = name,
                    version,
                    since,
                    "the last good version serves: {reason}"
                );
            } else {
                tracing::warn!(tool = name, "{reason}");
            }
        }
        for what in &self.needs_restart {
            tracing::warn!("{what}");
        }
    }
}

//! What `watch` shows at one moment.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use prx_host::{Change, Host, Notice, Snapshot, Tool};

use super::rates::{Rate, Rates};
use crate::cli::facts;
use crate::cli::list::block_of;
use crate::cli::render::{Screen, Tone, table};

/// Changes that are shown.
pub const HISTORY: usize = 5;

/// One moment.
pub struct View {
    snapshot: Arc<Snapshot>,
    latest: Arc<Change>,
    hosts: Vec<Notice>,
    rows: Vec<Vec<String>>,
    history: Vec<String>,
}

impl View {
    /// Looks at a host, and at those that are running.
    pub fn new(host: &Host, rates: &mut Rates) -> Self {
        let hosts = host.running();
        let rates = rates.look(&hosts);
        let snapshot = host.snapshot();
        let latest = host.changes().borrow().clone();
        let rows = snapshot.tools().map(|tool| {
            let rate = rates.get(tool.name()).copied().unwrap_or_default();
            row(tool, rate, &snapshot, &hosts)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.extend(served_elsewhere(&snapshot, &hosts, &rates));
        Self {
            rows,
            snapshot: Arc::clone(&snapshot),
            latest,
            hosts,
            history: Vec::new(),
        }
    }

    /// With these changes below it, the latest first.
    pub fn with_history<'a>(mut self, changes: impl Iterator<Item = &'a Arc<Change>>) -> Self {
        self.history = changes.map(|change| super::line(change)).collect();
        self
    }

    /// As people read it.
    pub fn text(&self, screen: Screen) -> String {
        let mut text = format!(
            "Snapshot {} since {}: {} tools, {} broken; made in {} ms.\n{}\n\n",
            self.snapshot.number(),
            humantime::format_rfc3339_seconds(self.latest.at),
            self.snapshot.tools().len(),
            self.snapshot.broken().len(),
            self.latest.took.as_millis(),
            self.hosts_in_words(),
        );
        let headings = [
            "tool",
            "version",
            "since",
            "state",
            "calls",
            "per second",
            "failed",
            "running",
        ];
        if self.rows.is_empty() {
            text.push_str("There are no tools yet.");
        } else {
            text.push_str(&table(screen, &headings, &self.rows));
        }
        for broken in self.snapshot.broken() {
            let _ = write!(text, "\n\n{}", block_of(broken, screen));
        }
        if !self.history.is_empty() {
            let heading = screen.paint("Latest changes", Tone::Heading);
            let _ = write!(text, "\n\n{heading}");
            for line in &self.history {
                let _ = write!(text, "\n  {}", screen.guest_out(line));
            }
        }
        text.replace("\n\n\n", "\n\n")
    }

    fn hosts_in_words(&self) -> String {
        match self.hosts.as_slice() {
            [] => "No host is running on this configuration.".into(),
            hosts => {
                let processes: Vec<String> =
                    hosts.iter().map(|host| host.pid.to_string()).collect();
                format!(
                    "Running on this configuration: process {}.",
                    processes.join(", ")
                )
            }
        }
    }
}

/// Tools that a running host serves and a fresh start would not.
fn served_elsewhere(
    snapshot: &Snapshot,
    hosts: &[Notice],
    rates: &HashMap<String, Rate>,
) -> Vec<Vec<String>> {
    let mut rows = BTreeMap::new();
    for host in hosts {
        for tool in host
            .tools
            .iter()
            .filter(|tool| snapshot.tool(&tool.name).is_none())
        {
            let rate = rates.get(&tool.name).copied().unwrap_or_default();
            let state = format!("only in process {}", host.pid);
            let version = tool.version.as_deref();
            let row = columns(&tool.name, version, tool.since.clone(), state, rate);
            rows.entry(tool.name.clone()).or_insert(row);
        }
    }
    rows.into_values().collect()
}

fn columns(
    name: &str,
    version: Option<&str>,
    since: String,
    state: String,
    rate: Rate,
) -> Vec<String> {
    vec![
        name.to_owned(),
        version.map_or_else(|| "-".into(), facts::short),
        since,
        state,
        rate.counts.calls.to_string(),
        rate.per_second
            .map_or_else(|| "-".into(), |speed| format!("{speed:.1}")),
        rate.counts.failed.to_string(),
        rate.counts.running.to_string(),
    ]
}

fn row(tool: &Tool, rate: Rate, snapshot: &Snapshot, hosts: &[Notice]) -> Vec<String> {
    let entry = tool.entry();
    let version = entry.version();
    let is_kept = |name: &str| {
        let mut broken = snapshot.broken().iter();
        broken.any(|broken| broken.name == name && broken.serving.is_some())
    };
    let behind = hosts.iter().find(|host| {
        let mut tools = host.tools.iter();
        tools.any(|other| other.name == tool.name() && other.version != version)
    });
    let state = if entry.missing_folders().next().is_some() {
        "folder missing".into()
    } else if is_kept(entry.name()) {
        "last good version".into()
    } else if let Some(host) = behind {
        format!("another version in {}", host.pid)
    } else {
        "ready".into()
    };
    let since = humantime::format_rfc3339_seconds(entry.started().at).to_string();
    columns(tool.name(), version.as_deref(), since, state, rate)
}

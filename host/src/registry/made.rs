//! An entry that was made, with its tools named and ready: a snapshot is put together from
//! these.

use std::sync::Arc;

use super::entry::Entry;
use super::naming;
use super::snapshot::Tool;
use crate::lint::{self, Severity};
use crate::model::ToolSpec;
use crate::runtime::RuntimeError;

/// An entry and what it says of its tools.
pub(super) type Offer = (Entry, Vec<ToolSpec>);

/// Why an entry, or one of its tools, can not be made.
#[derive(Clone)]
pub(super) struct NotMade {
    pub reason: String,
    pub help: Option<String>,
}

impl From<String> for NotMade {
    fn from(reason: String) -> Self {
        Self { reason, help: None }
    }
}

impl From<RuntimeError> for NotMade {
    fn from(error: RuntimeError) -> Self {
        Self {
            reason: error.to_string(),
            help: error.help(),
        }
    }
}

/// One entry of a snapshot.
pub(super) struct Made {
    pub entry: Arc<Entry>,
    pub tools: Vec<Arc<Tool>>,
    /// Tools whose names do not do.
    pub faults: Vec<NotMade>,
}

impl Made {
    /// Names the tools. `before` served under the same name: what stayed as it was goes
    /// on, and so do the counters of its tools.
    pub fn new((mut entry, specs): Offer, before: Option<&Self>) -> Self {
        if let Some(before) = before
            && before.entry.means_the_same(&entry)
        {
            entry.started = before.entry.started;
        }
        // The operator may describe a tool in his own words.
        let written = entry.written.as_ref();
        let described = written.and_then(|tool| tool.description.as_ref());
        let described = described.map(|description| description.value.clone());
        // One version is told of once, whatever else is loaded anew.
        let is_told = before.is_some_and(|before| before.entry.means_the_same(&entry));
        let entry = Arc::new(entry);
        let only = specs.len() == 1;
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        for mut spec in specs {
            let name = match naming::tool_name(entry.name(), &spec, only) {
                Ok(name) => name,
                Err(reason) => {
                    let help = Some("give the entry a shorter name".into());
                    faults.push(NotMade { reason, help });
                    continue;
                }
            };
            if let Some(description) = described.as_ref().filter(|_| only) {
                spec.description.clone_from(description);
            }
            if !is_told {
                tell_findings(&name, &spec);
            }
            let mut earlier = before.iter().flat_map(|before| &before.tools);
            let counters = earlier.find(|tool| tool.name() == name);
            let counters = counters.map(|tool| Arc::clone(tool.counters()));
            let entry = Arc::clone(&entry);
            tools.push(Arc::new(Tool::new(
                name,
                spec,
                entry,
                counters.unwrap_or_default(),
            )));
        }
        Self {
            entry,
            tools,
            faults,
        }
    }
}

/// Tells the log of what clients will not like about a tool, where the log wants to know.
fn tell_findings(name: &str, spec: &ToolSpec) {
    if !tracing::enabled!(target: "prx_host::lint", tracing::Level::INFO) {
        return;
    }
    let findings = lint::lint(name, spec).into_iter();
    for finding in findings.filter(|finding| finding.rule.severity == Severity::Warning) {
        tracing::info!(
            target: "prx_host::lint",
            tool = name,
            rule = finding.rule.id,
            places = finding.places.join(" "),
            "{}; {}",
            finding.rule.what,
            finding.rule.advice
        );
    }
}

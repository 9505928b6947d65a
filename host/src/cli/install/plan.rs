//! What would come of an installation, gathered once for the person, the program and the
//! question.

use std::fmt::Write as _;

use prx_host::Snapshot;
use prx_host::config::Config;
use prx_host::install::{Candidate, Present, Served};
use prx_host::model::{Shown as _, format_bytes};
use serde_json::{Value, json};

use super::lines;
use crate::cli::facts::names;
use crate::cli::granted::{self, Asked, Granted};

/// An installation that would work.
pub struct Plan<'a> {
    pub candidate: &'a Candidate,
    /// The configuration, as its author knows it.
    pub config_file: String,
    pub entries: Vec<Entry>,
    /// The tools that the module in its place serves now.
    pub replaced_tools: Vec<String>,
}

/// An entry that would serve the module.
pub struct Entry {
    pub served: Served,
    /// What its tools ask for, and what they would be granted.
    pub asked: Vec<Asked>,
    /// Everything that it is granted, and the key that grants it.
    pub granted: Vec<(String, String)>,
    /// What would grant the rest.
    pub lines: Option<String>,
}

impl<'a> Plan<'a> {
    pub fn new(
        config: &Config,
        candidate: &'a Candidate,
        served: Vec<Served>,
        now: &Snapshot,
    ) -> Self {
        let place = candidate.destination();
        let replaced = now.tools().filter(|tool| {
            let module = tool.entry().module();
            module.is_some_and(|module| module.path() == place)
        });
        let entries = served.into_iter().map(|served| Entry::new(config, served));
        Self {
            candidate,
            config_file: config
                .file
                .as_ref()
                .map_or_else(|| "config.toml".into(), |file| file.shown().to_string()),
            entries: entries.collect(),
            replaced_tools: replaced.map(|tool| tool.name().to_owned()).collect(),
        }
    }

    /// Whether something is there that would be replaced.
    pub fn replaces(&self) -> bool {
        matches!(
            self.candidate.present(),
            Present::Other { .. } | Present::Link { .. }
        )
    }

    /// The options that stand for a person's word.
    pub fn needs(&self) -> Vec<&'static str> {
        let grants = self
            .entries
            .iter()
            .any(|one| one.served.is_granted_anything());
        let mut needs = Vec::new();
        if grants || self.replaces() {
            needs.push("--yes");
        }
        if self.replaces() {
            needs.push("--replace");
        }
        needs
    }

    /// Each thing that needs a person's word, in a sentence.
    pub fn consequences(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .entries
            .iter()
            .filter(|entry| entry.served.is_granted_anything())
            .map(|entry| {
                format!(
                    "`{}` would be granted at once: {}",
                    entry.served.entry,
                    entry.grants_in_words().join(", ")
                )
            })
            .collect();
        all.extend(self.replaced_in_words());
        all
    }

    /// What would be replaced, in a sentence.
    pub fn replaced_in_words(&self) -> Option<String> {
        let what = match self.candidate.present() {
            Present::Nothing | Present::Same => return None,
            Present::Other { size } => {
                format!("a module with other content ({})", format_bytes(*size))
            }
            Present::Link { to } => format!("a link to `{}`", to.shown()),
        };
        let place = self.candidate.destination();
        let mut text = format!("`{}` would be replaced: {what}", place.shown());
        if !self.replaced_tools.is_empty() {
            let _ = write!(text, ", which serves {}", names(&self.replaced_tools));
        }
        Some(text)
    }

    /// The plan for programs; `result` is what became of it.
    pub fn json(&self, result: &str) -> Value {
        let mut json = of_candidate(self.candidate, result);
        let replaces = match self.candidate.present() {
            Present::Nothing | Present::Same => Value::Null,
            Present::Other { size } => json!({ "size": size, "tools": self.replaced_tools }),
            Present::Link { to } => {
                json!({ "link_to": to.display().to_string(), "tools": self.replaced_tools })
            }
        };
        json["replaces"] = replaces;
        json["needs"] = json!(self.needs());
        json["entries"] = self.entries.iter().map(Entry::json).collect();
        json
    }
}

/// What is known of a module and its place, for programs.
pub fn of_candidate(candidate: &Candidate, result: &str) -> Value {
    let inspection = candidate.inspection();
    let descriptor = inspection.descriptor.as_ref();
    json!({
        "result": result,
        "name": candidate.name().as_str(),
        "file": inspection.path.display().to_string(),
        "module": candidate.destination().display().to_string(),
        "makes_folder": candidate.is_folder_missing(),
        "size": inspection.size,
        "sha256": inspection.digest,
        "kind": descriptor.map(|found| &found.kind),
        "version": descriptor.map(|found| &found.version),
    })
}

impl Entry {
    fn new(config: &Config, served: Served) -> Self {
        let granted = Granted {
            config,
            entry: &served.entry,
            grants: &served.grants,
        };
        let requests = served.tools.iter().flat_map(|(_, spec)| &spec.requests);
        let asked = granted::compare(granted, requests, |_| None);
        let lines = lines::to_grant(granted, &asked);
        let granted = granted::exact(granted);
        Self {
            served,
            asked,
            granted,
            lines,
        }
    }

    /// Everything that it is granted, each with the key that grants it.
    fn grants_in_words(&self) -> Vec<String> {
        let granted = self.granted.iter();
        let granted = granted.map(|(what, key)| format!("{what} by {key}"));
        granted.chain(self.settings_in_words()).collect()
    }

    /// The settings that it can read.
    pub fn settings_in_words(&self) -> Option<String> {
        if self.served.settings.is_empty() {
            return None;
        }
        Some(format!(
            "the settings {} of `[tools.custom.{}.config]`",
            names(&self.served.settings),
            self.served.entry
        ))
    }

    fn json(&self) -> Value {
        let served = &self.served;
        let tools: Vec<Value> = served
            .tools
            .iter()
            .map(|(name, spec)| json!({ "tool": name, "description": spec.description }))
            .collect();
        json!({
            "entry": served.entry,
            "place": served.place.as_ref().map(ToString::to_string),
            "switched_off": served.switched_off,
            "tools": tools,
            "requests": self.asked,
            "grants": served.grants,
            "settings": served.settings,
            "lines_to_grant": self.lines,
            "broken": served.broken.iter().map(|one| json!({ "reason": one.reason, "help": one.help })).collect::<Vec<_>>(),
        })
    }
}

//! An immutable, numbered set of tools. A call keeps the snapshot that it started with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::entry::{Entry, Started};
use crate::lint::{self, Finding};
use crate::model::{Counters, ToolSpec};
use crate::schema::Validator;

/// Names nearer than this to an unknown one are suggested.
const NEAR: f64 = 0.6;

/// The tools of one moment.
#[derive(Default)]
pub struct Snapshot {
    number: u64,
    tools: BTreeMap<String, Arc<Tool>>,
    broken: Vec<Broken>,
    is_loading: bool,
}

impl Snapshot {
    pub(super) fn new(
        number: u64,
        tools: BTreeMap<String, Arc<Tool>>,
        broken: Vec<Broken>,
        is_loading: bool,
    ) -> Self {
        Self {
            number,
            tools,
            broken,
            is_loading,
        }
    }

    /// Counts up with each change.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// All tools that can be called, by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// What was found and can not be called, and why.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Whether a module of it is being compiled, and will be there later.
    pub fn is_loading(&self) -> bool {
        self.is_loading
    }

    /// Whether a name is that of a tool, or of something that is broken.
    #[cfg(feature = "mcp")]
    pub(crate) fn is_known(&self, name: &str) -> bool {
        let mut broken = self.broken.iter();
        self.tools.contains_key(name)
            || broken.any(|broken| super::naming::may_have(&broken.name, name))
    }

    /// Whether nothing changed from one to the other: the very same tools, and the same
    /// faults.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let pairs = self.tools.values().zip(other.tools.values());
        self.tools.len() == other.tools.len()
            && pairs.into_iter().all(|(one, two)| Arc::ptr_eq(one, two))
            && self.broken == other.broken
            && self.is_loading == other.is_loading
    }

    /// The same tools, with this added to what is broken.
    pub(crate) fn with_broken(mut self, broken: Option<Broken>) -> Self {
        self.broken.splice(0..0, broken);
        self
    }

    /// The name that an unknown one was most likely meant to be.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let similarity = |known: &str| {
            let (known, name) = (known.to_ascii_lowercase(), name.to_ascii_lowercase());
            strsim::jaro_winkler(&known.replace('-', "_"), &name.replace('-', "_"))
        };
        let known = self
            .tools
            .keys()
            .map(|known| (similarity(known), known.as_str()));
        known
            .filter(|(near, _)| *near > NEAR)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, k)| k)
    }
}

/// One callable thing.
pub struct Tool {
    name: String,
    spec: ToolSpec,
    entry: Arc<Entry>,
    counters: Arc<Counters>,
    input: OnceLock<Result<Validator, String>>,
    output: OnceLock<Result<Validator, String>>,
}

impl Tool {
    pub(super) fn new(
        name: String,
        spec: ToolSpec,
        entry: Arc<Entry>,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            name,
            spec,
            entry,
            counters,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// The name by which agents call it; unique within the snapshot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, in its author's or operator's words. Its `name` is the module's own.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The entry that it belongs to: module, grants and limits.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// How often it was called, and how that ended. They go on when a new version takes
    /// its place.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Which rules about names, descriptions and schemas it breaks. Found out anew with
    /// each question.
    pub fn findings(&self) -> Vec<Finding> {
        lint::lint(&self.name, &self.spec)
    }

    /// Whether a caller could not tell the two apart.
    pub(crate) fn means_the_same(&self, other: &Self) -> bool {
        self.spec == other.spec && self.entry.means_the_same(&other.entry)
    }

    /// Checks arguments; compiled by the first call and kept.
    pub(crate) fn input_validator(&self) -> Result<&Validator, &str> {
        let made = self
            .input
            .get_or_init(|| Validator::new(&self.spec.input_schema));
        made.as_ref().map_err(String::as_str)
    }

    /// Checks structured answers, where the tool promised a shape for them.
    pub(crate) fn output_validator(&self) -> Option<Result<&Validator, &str>> {
        let schema = self.spec.output_schema.as_ref()?;
        let made = self.output.get_or_init(|| Validator::new(schema));
        Some(made.as_ref().map_err(String::as_str))
    }
}

/// What serves in the place of something broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Serving {
    /// SHA-256 of its module, in hexadecimal; `None` where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Since when.
    pub since: Started,
}

impl Broken {
    /// The name of the configuration file where it is broken.
    pub(crate) const CONFIGURATION: &str = "(configuration)";
}

/// Something that was found and can not be called, or only in an earlier version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The entry's name, or the tool's where only one of several is concerned.
    pub name: String,
    /// The module, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<PathBuf>,
    /// `wasm`, `native` or `docker`.
    pub backend: &'static str,
    /// Where the configuration speaks of it: `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What serves in its place: the last good version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
}

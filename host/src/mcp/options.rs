//! What a server offers, and how much of it at a time: said by a program, or by the
//! configuration of the host, which a server then follows.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::listing::ToolFilter;
use crate::config::{Config, PromptEntry, ResourceEntry};

/// What a server offers, and how much of it at a time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Which tools are offered.
    pub filter: ToolFilter,
    /// Entries in one page of a list. Many clients read the first page only.
    pub page_size: usize,
    /// Characters of text in one result; the rest is cut off with a note.
    pub max_result_chars: usize,
    /// Calls that run at one time; more wait.
    pub max_calls: usize,
    /// Calls that wait at one time; more are refused.
    pub max_waiting: usize,
    /// Bytes of one message over standard streams; a longer one is refused and skipped.
    pub max_line_bytes: usize,
    /// Bytes of answers that are held at one time for all clients, until they have taken them;
    /// calls with more to answer than 16 KiB wait.
    pub max_answer_bytes: usize,
    /// What clients hear first.
    pub instructions: Option<String>,
    /// Files and answers of tools that clients may read. A tool that is named here is used
    /// even where the filter hides it.
    pub resources: Vec<ResourceEntry>,
    /// Prompts that people choose.
    pub prompts: Vec<PromptEntry>,
    /// Whose `[serve]` is followed, and what wins over it.
    pub(super) follows: Option<Narrowing>,
}

/// What wins over `[serve]`: the flags of a command line.
#[derive(Clone, Debug, Default)]
pub struct Narrowing {
    /// Globs in place of `serve.tools`, where there are any.
    pub tools: Vec<String>,
    /// Globs besides those of `serve.deny`.
    pub deny: Vec<String>,
    /// Only tools that change nothing, whatever `serve.read_only` says.
    pub read_only: bool,
}

impl Default for ServeOptions {
    /// All tools, in usual amounts; whatever a configuration says.
    fn default() -> Self {
        Self {
            filter: ToolFilter::default(),
            page_size: 1_000,
            max_result_chars: 50_000,
            max_calls: 256,
            max_waiting: 2_048,
            max_line_bytes: 16 << 20,
            max_answer_bytes: 256 << 20,
            instructions: None,
            resources: Vec::new(),
            prompts: Vec::new(),
            follows: None,
        }
    }
}

impl ServeOptions {
    /// What `[serve]` of a configuration says, narrowed. A server with these options follows
    /// the configuration of its host: what changes there holds for the next request.
    ///
    /// # Errors
    ///
    /// The first glob that is none, and why.
    pub fn from_config(config: &Config, narrowing: &Narrowing) -> Result<Self, globset::Error> {
        let serve = &config.serve;
        let tools = match narrowing.tools.as_slice() {
            [] => &serve.tools.value,
            tools => tools,
        };
        let deny = [serve.deny.value.as_slice(), &narrowing.deny].concat();
        let amount = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Ok(Self {
            filter: ToolFilter {
                allow: Some(globs(tools)?),
                deny: Some(globs(&deny)?),
                read_only: serve.read_only.value || narrowing.read_only,
            },
            page_size: amount(serve.page_size.value),
            max_result_chars: amount(serve.max_result_chars.value),
            max_calls: amount(serve.max_calls.value),
            instructions: serve.instructions.as_ref().map(|text| text.value.clone()),
            resources: serve.resources.values().cloned().collect(),
            prompts: serve.prompts.values().cloned().collect(),
            follows: Some(narrowing.clone()),
            ..Self::default()
        })
    }

    /// What holds under this configuration. What can not be understood offers nothing.
    pub(super) fn under(&self, config: &Config) -> Self {
        let Some(narrowing) = &self.follows else {
            return self.clone();
        };
        Self::from_config(config, narrowing).unwrap_or_else(|error| {
            tracing::error!("no tool is offered: {error}");
            Self {
                filter: ToolFilter {
                    allow: Some(GlobSet::empty()),
                    ..ToolFilter::default()
                },
                resources: Vec::new(),
                prompts: Vec::new(),
                ..self.clone()
            }
        })
    }
}

impl ToolFilter {
    /// Offers only tools whose names match one of these globs, where there are any, and
    /// none that matches one of the others; with `read_only`, only tools that change
    /// nothing.
    ///
    /// # Errors
    ///
    /// The first glob that is none, and why.
    pub fn new(allow: &[String], deny: &[String], read_only: bool) -> Result<Self, globset::Error> {
        Ok(Self {
            allow: (!allow.is_empty()).then(|| globs(allow)).transpose()?,
            deny: Some(globs(deny)?),
            read_only,
        })
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern)?);
    }
    set.build()
}

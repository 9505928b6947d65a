//! What is known of a module and its tools, and as one JSON value.

use std::path::Path;
use std::sync::Arc;

use prx_host::config::Config;
use prx_host::lint::lint;
use prx_host::model::ToolSpec;
use prx_host::{Host, Inspection, Module, Tool, WasmEncoding};
use serde_json::{Value, json};

use super::text;
use crate::cli::granted::{self, Asked, Granted};
use crate::cli::list::open_failure;
use crate::cli::render::{Failure, Screen};
use crate::cli::{Exit, facts};

/// What is shown: a file, and the tools that are made of it under the configuration.
pub struct Shown<'a> {
    /// The file.
    pub inspection: &'a Inspection,
    /// Its tools, by the names that agents use; empty for a mere file.
    pub tools: Vec<&'a Tool>,
    /// What they ask for, and what is granted; `None` for a mere file.
    pub asked: Option<Vec<Asked>>,
}

impl Shown<'_> {
    /// Names and descriptions of the tools.
    pub fn specs(&self) -> Vec<(&str, &ToolSpec)> {
        if !self.tools.is_empty() {
            return self
                .tools
                .iter()
                .map(|tool| (tool.name(), tool.spec()))
                .collect();
        }
        let descriptor = self.inspection.descriptor.iter();
        descriptor
            .flat_map(|found| &found.tools)
            .map(|spec| (spec.name.as_str(), spec))
            .collect()
    }
}

/// Looks at a file, whatever it is.
pub async fn inspect_file(config: Config, file: &Path, screen: Screen) -> Result<Exit, Failure> {
    let current = std::env::current_dir().unwrap_or_default();
    let inspection = prx_host::inspect_file(&config, current.join(file))
        .await
        .map_err(open_failure)?;
    show(
        &Shown {
            inspection: &inspection,
            tools: Vec::new(),
            asked: None,
        },
        screen,
    )
}

/// Looks at the tools of a module.
pub fn inspect_tools(
    host: &Host,
    module: &Arc<Module>,
    tools: Vec<&Tool>,
    screen: Screen,
) -> Result<Exit, Failure> {
    let asked = tools.first().map(|first| {
        let entry = first.entry();
        let granted = Granted {
            config: &host.config(),
            entry: entry.name(),
            grants: entry.grants(),
        };
        let requests = tools.iter().flat_map(|tool| &tool.spec().requests);
        granted::compare(granted, requests, |wanted| Some(entry.how_to_grant(wanted)))
    });
    let inspection = Inspection::of_module(module);
    show(
        &Shown {
            inspection: &inspection,
            tools,
            asked,
        },
        screen,
    )
}

fn show(shown: &Shown<'_>, screen: Screen) -> Result<Exit, Failure> {
    if screen.json() {
        screen.print_json(&json(shown))?;
    } else {
        screen.print(&text::text(shown, screen))?;
    }
    Ok(if shown.inspection.fault.is_some() {
        Exit::ToolFailed
    } else {
        Exit::Ok
    })
}

fn json(shown: &Shown<'_>) -> Value {
    let inspection = shown.inspection;
    let descriptor = inspection.descriptor.as_ref();
    let shape = inspection.shape.as_ref();
    let tools: Vec<Value> = match shown.tools.as_slice() {
        [] => descriptor
            .map(|found| found.tools.iter().map(of_spec).collect())
            .unwrap_or_default(),
        tools => tools.iter().map(|tool| facts::tool_json(tool)).collect(),
    };
    json!({
        "path": inspection.path.display().to_string(),
        "size": inspection.size,
        "sha256": inspection.digest,
        "encoding": shape.map(|shape| shape.encoding),
        "kind": descriptor.map(|found| &found.kind),
        "version": descriptor.map(|found| &found.version),
        "fault": inspection.fault.as_ref().map(|fault| json!({ "reason": fault.to_string(), "help": fault.help() })),
        "exports": shape.map(|shape| shape.exports.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "imports": shape.map(|shape| json!(shape.offers())),
        "compile_ms": descriptor.map(|found| facts::milliseconds(found.compile_time)),
        "compiled_bytes": descriptor.map(|found| found.code_bytes),
        "from_cache": inspection.from_cache,
        "tools": tools,
        "requests": shown.asked,
    })
}

/// A tool of a mere file, by the module's own name for it.
fn of_spec(spec: &ToolSpec) -> Value {
    let mut facts = json!(spec);
    facts["findings"] = json!(lint(&spec.name, spec));
    facts
}

/// What a file is by its encoding, in words.
pub fn encoding_in_words(encoding: WasmEncoding) -> &'static str {
    match encoding {
        WasmEncoding::Component => "a WebAssembly component",
        WasmEncoding::Core => "a core WebAssembly module",
    }
}

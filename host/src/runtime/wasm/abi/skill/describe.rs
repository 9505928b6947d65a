//! Checks what a module says about itself: `describe` may lie, by mistake or on purpose.
//!
//! Invariant: a module is accepted as a whole or not at all, and all its faults are told.

use std::collections::HashSet;

use serde_json::Value;

use super::bindings::tools;
use crate::model::{Capability, Hints, Request, ToolSpec};
use crate::runtime::wasm::fault::ModuleFault;
use crate::schema;

/// Tools that one module may offer.
const MAX_TOOLS: usize = 256;
/// Bytes of a tool's name.
const MAX_NAME_BYTES: usize = 64;
/// Characters of a title.
const MAX_TITLE_CHARS: usize = 200;
/// Characters of a description; what MCP clients show.
const MAX_DESCRIPTION_CHARS: usize = 1024;
/// Bytes of a schema.
const MAX_SCHEMA_BYTES: usize = 64 << 10;
/// Requests of one tool, and bytes of each text in them.
const MAX_REQUESTS: usize = 64;
const MAX_REQUEST_BYTES: usize = 1024;
/// Faults that are told; more help nobody.
const MAX_FAULTS: usize = 8;

/// Turns what a module said into tools, or into the list of its faults.
pub(super) fn check(specs: Vec<tools::ToolSpec>) -> Result<Vec<ToolSpec>, ModuleFault> {
    if specs.is_empty() {
        return Err(ModuleFault::BadDescription(vec![
            "it offers no tools".into(),
        ]));
    }
    if specs.len() > MAX_TOOLS {
        let fault = format!(
            "it offers {} tools, at most {MAX_TOOLS} are allowed",
            specs.len()
        );
        return Err(ModuleFault::BadDescription(vec![fault]));
    }
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    let mut checked = Vec::with_capacity(specs.len());
    for spec in specs {
        if !seen.insert(spec.name.clone()) {
            faults.push(format!("two tools are called `{}`", shown(&spec.name)));
        }
        checked.extend(check_one(spec, &mut faults));
        if faults.len() >= MAX_FAULTS {
            faults.truncate(MAX_FAULTS);
            faults.push("…".into());
            break;
        }
    }
    if faults.is_empty() {
        Ok(checked)
    } else {
        Err(ModuleFault::BadDescription(faults))
    }
}

fn check_one(spec: tools::ToolSpec, faults: &mut Vec<String>) -> Option<ToolSpec> {
    let before = faults.len();
    let name = shown(&spec.name);
    let mut fault = |text: String| faults.push(format!("tool `{name}`: {text}"));
    if !is_tool_name(&spec.name) {
        fault(format!(
            "its name must begin with a letter and have at most {MAX_NAME_BYTES} letters, digits, `_` or `-`"
        ));
    }
    check_text(
        "title",
        spec.title.as_deref().unwrap_or_default(),
        MAX_TITLE_CHARS,
        &mut fault,
    );
    if spec.description.trim().is_empty() {
        fault("it has no description".into());
    }
    check_text(
        "description",
        &spec.description,
        MAX_DESCRIPTION_CHARS,
        &mut fault,
    );
    let input_schema = check_schema("input-schema", &spec.input_schema, &mut fault);
    let output_schema = spec
        .output_schema
        .map(|text| check_schema("output-schema", &text, &mut fault));
    let requests = check_requests(spec.requests, &mut fault);
    if faults.len() > before {
        return None;
    }
    Some(ToolSpec {
        name: spec.name,
        title: spec.title,
        description: spec.description,
        input_schema: input_schema?,
        output_schema: output_schema.flatten(),
        hints: Hints {
            read_only: spec.hints.read_only,
            destructive: spec.hints.destructive,
            idempotent: spec.hints.idempotent,
            open_world: spec.hints.open_world,
        },
        requests,
    })
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn check_text(what: &str, text: &str, limit: usize, fault: &mut impl FnMut(String)) {
    let chars = text.chars().count();
    if chars > limit {
        fault(format!(
            "its {what} has {chars} characters, at most {limit} are allowed"
        ));
    }
    // Terminals and models must not be steered by invisible characters.
    if text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    {
        fault(format!("its {what} has control characters"));
    }
}

fn check_schema(what: &str, text: &str, fault: &mut impl FnMut(String)) -> Option<Value> {
    if text.len() > MAX_SCHEMA_BYTES {
        fault(format!(
            "its {what} has {} bytes, at most {MAX_SCHEMA_BYTES} are allowed",
            text.len()
        ));
        return None;
    }
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => {
            fault(format!("its {what} is no JSON: {error}"));
            return None;
        }
    };
    match schema::check(&schema) {
        Ok(()) => Some(schema),
        Err(why) => {
            fault(format!("its {what} {why}"));
            None
        }
    }
}

fn check_requests(requests: Vec<tools::Request>, fault: &mut impl FnMut(String)) -> Vec<Request> {
    if requests.len() > MAX_REQUESTS {
        fault(format!(
            "it has {} requests, at most {MAX_REQUESTS} are allowed",
            requests.len()
        ));
        return Vec::new();
    }
    let mut checked = Vec::with_capacity(requests.len());
    for request in requests {
        let capability = match request.capability {
            tools::Capability::ReadFolder(path) => Capability::ReadFolder(path),
            tools::Capability::WriteFolder(path) => Capability::WriteFolder(path),
            tools::Capability::Variable(name) => Capability::Variable(name),
            tools::Capability::Network(host) => Capability::Network(host),
            tools::Capability::State => Capability::State,
        };
        let target = match &capability {
            Capability::ReadFolder(target)
            | Capability::WriteFolder(target)
            | Capability::Variable(target)
            | Capability::Network(target) => target.as_str(),
            Capability::State => "",
        };
        check_text("request", target, MAX_REQUEST_BYTES, fault);
        check_text(
            "reason of a request",
            &request.reason,
            MAX_REQUEST_BYTES,
            fault,
        );
        checked.push(Request {
            capability,
            reason: request.reason,
            optional: request.optional,
        });
    }
    checked
}

/// A name that may be anything, fit for a message.
fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(48).flat_map(char::escape_debug).collect();
    if name.chars().nth(48).is_some() {
        text.push('…');
    }
    text
}

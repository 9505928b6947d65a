//! What is shown of every tool, whatever runs it: for people.

use std::fmt::Write as _;

use prx_host::Entry;
use prx_host::lint::{Severity, lint};
use prx_host::model::{Hints, Shown as _, ToolSpec, format_bytes};
use serde_json::Value;

use crate::cli::render::{Screen, Tone, columns, indented};

/// A row of two columns.
pub fn pair(name: &str, value: String) -> Vec<String> {
    vec![name.to_owned(), value]
}

/// A tool as agents see it.
pub fn tool(name: &str, spec: &ToolSpec, screen: Screen) -> String {
    let mut text = screen.paint(&format!("tool {name}"), Tone::Heading);
    if let Some(title) = &spec.title {
        let _ = write!(text, " ({})", title.shown());
    }
    text.push('\n');
    text.push_str(&indented(&screen.guest_out(&spec.description), 2));
    let hints = hints(spec.hints);
    if !hints.is_empty() {
        let _ = writeln!(text, "  hints: {hints}");
    }
    text.push_str(&schema("input", &spec.input_schema, screen));
    if let Some(output) = &spec.output_schema {
        text.push_str(&schema("output", output, screen));
    }
    text.push_str(&findings(name, spec, screen));
    text
}

/// What the author should know: rules of clients that the tool breaks.
fn findings(name: &str, spec: &ToolSpec, screen: Screen) -> String {
    let mut text = String::new();
    for finding in lint(name, spec) {
        let rule = finding.rule;
        let (head, tone) = match rule.severity {
            Severity::Warning => ("warning", Tone::Warning),
            Severity::Note => ("note", Tone::Help),
        };
        let places = finding.places.join(" ");
        let _ = writeln!(
            text,
            "  {} {} ({}): {}\n    {}",
            screen.paint(&format!("{head}:"), tone),
            rule.what,
            rule.id,
            rule.effect,
            places.shown()
        );
        let _ = writeln!(
            text,
            "    {} {}",
            screen.paint("help:", Tone::Help),
            rule.advice
        );
    }
    text
}

fn schema(what: &str, schema: &Value, screen: Screen) -> String {
    let schema = screen.guest_out(&format!("{schema:#}"));
    format!("  {what} schema:\n{}", indented(&schema, 4))
}

fn hints(hints: Hints) -> String {
    let named = [
        (hints.read_only, "read-only", "not read-only"),
        (hints.destructive, "destructive", "not destructive"),
        (hints.idempotent, "idempotent", "not idempotent"),
        (hints.open_world, "open-world", "not open-world"),
    ];
    let said = named
        .iter()
        .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { *yes } else { *no }));
    said.collect::<Vec<_>>().join(", ")
}

/// What a call may use, and which key says so.
pub fn limits(entry: &Entry, screen: Screen) -> String {
    let limits = entry.limits();
    let seconds = limits.timeout.value.as_secs_f64();
    let rows = [
        vec![
            "time".into(),
            format!("{seconds} s"),
            limits.timeout.origin(),
        ],
        vec![
            "memory".into(),
            format_bytes(limits.max_memory.value),
            limits.max_memory.origin(),
        ],
        vec![
            "output".into(),
            format_bytes(limits.max_output.value),
            limits.max_output.origin(),
        ],
    ];
    format!(
        "{}\n{}",
        screen.paint("limits", Tone::Heading),
        indented(&columns(&rows), 2)
    )
}

//! How a call ended, in words for a model: what happened, and what it can do about it.
//!
//! Invariant: nothing that only an operator may know is said here.

use crate::config::nearest;
use crate::model::{
    Content, Denial, LimitKind, Outcome, ResourceBody, ToolError, ToolOutput, Trap, TrapKind,
    format_bytes,
};

/// What a model is told of a call of this tool that ended so: of a good one its answer as
/// text, with a word for each picture or sound; of another what went wrong and how to do better. A program that speaks to a model
/// itself sends this back to it.
pub fn words(tool: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(output) => of_answer(output),
        Outcome::UnknownTool { name, nearest } => unknown_tool(name, nearest.as_deref()),
        Outcome::Internal { reason } => format!("the host failed: {reason}"),
        Outcome::ToolError(error) => of_tool(error),
        Outcome::InvalidArguments(faults) => {
            let faults: Vec<String> = faults.iter().map(|fault| format!("- {fault}")).collect();
            format!("The arguments do not fit `{tool}`:\n{}", faults.join("\n"))
        }
        Outcome::Denied(denial) => denied(tool, denial),
        Outcome::TimedOut { limit, .. } => format!(
            "`{tool}` was stopped after {} s, which is all the time it has. Ask for less at a time.",
            limit.as_secs_f64()
        ),
        Outcome::OutOfMemory { limit, .. } => format!(
            "`{tool}` needs more than the {} of memory that it has. Ask for less at a time.",
            format_bytes(*limit)
        ),
        Outcome::LimitReached { kind, limit } => of_limit(tool, *kind, *limit),
        Outcome::Trapped(trap) => of_trap(tool, trap),
        Outcome::Unavailable { reason, .. } => format!("`{tool}` can not be called now: {reason}."),
        Outcome::Cancelled => format!("The call of `{tool}` was cancelled."),
    }
}

/// The texts of an answer, and what of it is no text.
fn of_answer(output: &ToolOutput) -> String {
    let said = output.contents.iter().map(|content| match content {
        Content::Text { text } => text.clone(),
        Content::Image(media) => thing("a picture", Some(&media.media_type), media.data.len()),
        Content::Audio(media) => thing("a sound", Some(&media.media_type), media.data.len()),
        Content::Resource { resource } => match &resource.body {
            ResourceBody::Text(text) => text.clone(),
            ResourceBody::Blob(bytes) => {
                thing("a document", resource.media_type.as_deref(), bytes.len())
            }
        },
    });
    let said: Vec<String> = said.collect();
    match &output.structured {
        Some(structured) if said.is_empty() => structured.to_string(),
        _ => said.join("\n"),
    }
}

fn thing(what: &str, media_type: Option<&str>, bytes: usize) -> String {
    let media_type = media_type.unwrap_or("of no type");
    let size = format_bytes(bytes as u64);
    format!("[{what}, {media_type}, {size}]")
}

/// A name that may be anything, short and on one line.
fn shown(name: &str) -> String {
    let start = name.chars().take(100);
    start.flat_map(char::escape_debug).collect()
}

/// There is no such tool.
pub(super) fn unknown_tool(name: &str, nearest: Option<&str>) -> String {
    let shown = shown(name);
    match nearest {
        Some(nearest) => format!("unknown tool `{shown}`; did you mean `{nearest}`?"),
        None => format!("unknown tool `{shown}`"),
    }
}

/// Requests of both eras of the protocol.
const METHODS: [&str; 9] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/call",
    "tools/list",
];
/// Those that the era without sessions has besides.
const STATELESS: [&str; 1] = ["subscriptions/listen"];
/// Those that sessions have besides.
const OF_SESSIONS: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// There is no such request in this era of the protocol.
pub(super) fn unknown_method(name: &str, is_stateless: bool) -> String {
    let besides: &[&str] = if is_stateless {
        &STATELESS
    } else {
        &OF_SESSIONS
    };
    let methods = [&METHODS[..], besides].concat();
    // What compares takes its time, and a name may be as long as a message.
    let start = name
        .char_indices()
        .nth(100)
        .map_or(name, |(end, _)| &name[..end]);
    let shown = shown(name);
    match nearest(start, methods.iter().copied()) {
        Some(nearest) => format!("unknown method `{shown}`; did you mean `{nearest}`?"),
        None => format!(
            "unknown method `{shown}`; this server has `{}`",
            methods.join("`, `")
        ),
    }
}

fn of_tool(error: &ToolError) -> String {
    let mut said = error.message.clone();
    if let Some(hint) = &error.hint {
        said.push('\n');
        said.push_str(hint);
    }
    if let Some(data) = &error.data {
        said.push('\n');
        said.push_str(&data.to_string());
    }
    said
}

fn denied(tool: &str, denial: &Denial) -> String {
    match &denial.capability {
        Some(capability) => format!(
            "`{tool}` may not do that: {capability} is not granted to it. Only a person can grant it, in the configuration of the host. ({})",
            denial.message
        ),
        None => format!("`{tool}` may not do that: {}", denial.message),
    }
}

fn of_limit(tool: &str, kind: LimitKind, limit: u64) -> String {
    match kind {
        LimitKind::ArgumentBytes => format!(
            "The arguments have more than the {} that a call may have.",
            format_bytes(limit)
        ),
        LimitKind::OutputBytes => format!(
            "`{tool}` answered with more than the {} that an answer may have. Ask for less at a time.",
            format_bytes(limit)
        ),
        _ => format!("`{tool}` was ended at a limit of the host ({limit})."),
    }
}

fn of_trap(tool: &str, trap: &Trap) -> String {
    let how = match trap.kind {
        TrapKind::StackOverflow => "its calls are nested too deeply",
        _ => "it has a fault of its own",
    };
    let words = trap.message.trim();
    if words.is_empty() {
        format!("`{tool}` broke down: {how}.")
    } else {
        format!("`{tool}` broke down: {how} ({words}).")
    }
}

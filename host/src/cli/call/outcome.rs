//! How a call ended that gave no answer, for people and for exit codes.

use prx_host::model::{LimitKind, Outcome, ToolError, ToolErrorKind, Trap, TrapKind, format_bytes};
use serde_json::json;

use crate::cli::Exit;
use crate::cli::render::Failure;

/// The failure of a call of `tool`; `None` if it was none.
pub fn failure(tool: &str, outcome: &Outcome) -> Option<Failure> {
    Some(match outcome {
        Outcome::Ok(_) => return None,
        Outcome::ToolError(error) => of_tool_error(tool, error),
        Outcome::InvalidArguments(faults) => {
            let what = format!("the arguments do not fit tool `{tool}`");
            let failure = faults
                .iter()
                .fold(Failure::new(Exit::Usage, what), |failure, fault| {
                    failure.cause(fault.to_string())
                });
            failure
                .help(format!("`prx-host inspect {tool}` shows what it takes"))
                .detail("faults", json!(faults))
        }
        Outcome::Denied(denial) => {
            let what = match &denial.capability {
                Some(capability) => format!("tool `{tool}` was denied: {capability}"),
                None => format!("tool `{tool}` was denied something"),
            };
            let failure = Failure::new(Exit::Denied, what)
                .cause(denial.message.clone())
                .detail("capability", json!(denial.capability));
            failure.help_if_any(denial.help.as_deref())
        }
        Outcome::TimedOut { limit, set_by } => of_time(tool, *limit, set_by),
        Outcome::OutOfMemory { limit, set_by } => {
            Failure::new(Exit::Limit, format!("tool `{tool}` ran out of memory"))
                .cause(format!(
                    "it may use {}, set by {set_by}",
                    format_bytes(*limit)
                ))
                .help(format!("raise `{}`", key_of(set_by)))
                .detail("limit_bytes", json!(limit))
        }
        Outcome::LimitReached { kind, limit } => of_limit(tool, *kind, *limit),
        Outcome::Trapped(trap) => of_trap(tool, trap),
        Outcome::UnknownTool { name, nearest } => {
            let failure = Failure::new(Exit::Usage, format!("there is no tool `{name}`"))
                .detail("nearest", json!(nearest));
            failure.help(match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`prx-host list` shows the tools that there are".into(),
            })
        }
        Outcome::Unavailable { reason, help } => {
            let what = format!("tool `{tool}` can not run now");
            Failure::new(Exit::Unavailable, what)
                .cause(reason.clone())
                .help_if_any(help.as_deref())
        }
        Outcome::Cancelled => cancelled(tool),
        Outcome::Internal { reason } => of_host(reason),
        other => of_host(&format!(
            "the outcome `{:?}` is not known here",
            other.kind()
        )),
    })
}

/// The caller ended the call.
pub fn cancelled(tool: &str) -> Failure {
    Failure::new(
        Exit::Cancelled,
        format!("the call of tool `{tool}` was cancelled"),
    )
}

fn of_host(reason: &str) -> Failure {
    Failure::new(Exit::Internal, "prx-host itself failed")
        .cause(reason)
        .help("this is a fault of prx-host; please report it with the command and the module")
}

fn of_tool_error(tool: &str, error: &ToolError) -> Failure {
    let why = match error.kind {
        ToolErrorKind::InvalidArguments => ": it does not accept the arguments",
        ToolErrorKind::Denied => ": it lacks a permission",
        ToolErrorKind::NotFound => ": something was not found",
        ToolErrorKind::Conflict => ": something exists already or was changed",
        ToolErrorKind::Unavailable => ": something that it needs does not answer",
        _ => "",
    };
    let mut failure = Failure::new(Exit::ToolFailed, format!("tool `{tool}` failed{why}"))
        .cause(error.message.clone())
        .detail("kind", json!(error.kind));
    if let Some(data) = &error.data {
        failure = failure
            .line("data", data.to_string())
            .detail("data", data.clone());
    }
    failure.help_if_any(error.hint.as_deref())
}

fn of_time(tool: &str, limit: std::time::Duration, set_by: &str) -> Failure {
    let seconds = limit.as_secs_f64();
    let failure = Failure::new(
        Exit::Limit,
        format!("tool `{tool}` was stopped after {seconds} s"),
    )
    .detail("limit_ms", json!(limit.as_millis()));
    if set_by == "the caller" {
        return failure
            .cause(format!("`--timeout {seconds}` says so"))
            .help("give it more time with `--timeout`");
    }
    failure
        .cause(format!("it reached the limit set by {set_by}"))
        .help(format!("raise `{}`", key_of(set_by)))
}

fn of_limit(tool: &str, kind: LimitKind, limit: u64) -> Failure {
    let failure = Failure::new(
        Exit::Limit,
        format!("tool `{tool}` reached a limit: {kind}"),
    )
    .cause(format!("at most {} are allowed", kind.format(limit)))
    .detail("limit_kind", json!(kind))
    .detail("limit", json!(limit));
    match kind {
        LimitKind::OutputBytes => {
            failure.help("ask it for less, or raise `max_output_bytes` of the tool")
        }
        LimitKind::ArgumentBytes => {
            failure.help("give it a file in a granted folder instead of the text itself")
        }
        _ => failure.help("this limit is fixed; the skill must be built to need less"),
    }
}

fn of_trap(tool: &str, trap: &Trap) -> Failure {
    let what = match trap.kind {
        TrapKind::StackOverflow => "used up its stack",
        TrapKind::Exit => "ended itself instead of answering",
        _ => "broke down",
    };
    let mut failure = Failure::new(Exit::ToolFailed, format!("tool `{tool}` {what}"))
        .cause(trap.message.clone())
        .detail("kind", json!(trap.kind));
    if !trap.backtrace.is_empty() {
        failure = failure
            .line("at", trap.backtrace.join("\n"))
            .detail("backtrace", json!(trap.backtrace));
    }
    failure.help("this is a fault of the skill; tell its author what stands above")
}

/// The key in `key (file:line)`.
fn key_of(set_by: &str) -> &str {
    set_by.rsplit_once(" (").map_or(set_by, |(key, _)| key)
}

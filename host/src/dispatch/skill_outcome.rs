//! What happened, in the words of the caller. The only place where outcomes of modules
//! are made.

use super::Deadline;
use crate::model::{
    Denial, Grants, LimitKind, Outcome, Request, ToolError, ToolErrorKind, ToolOutput, Trap,
};
use crate::registry::Tool;
use crate::runtime::wasm::breakdown::Breakdown;
use crate::runtime::wasm::limits::{MAX_INSTANCES, MAX_TABLE_ELEMENTS};
use crate::runtime::wasm::session::Remains;
use crate::runtime::wasm::{Answer, NotStarted};

/// A call whose guest never ran.
pub(super) fn of_not_started(not_started: NotStarted, deadline: &Deadline<'_>) -> Outcome {
    match not_started {
        NotStarted::TimedOut => deadline.timed_out(),
        NotStarted::Cancelled => Outcome::Cancelled,
        NotStarted::Module(fault) => Outcome::Unavailable {
            reason: fault.to_string(),
            help: fault.help().map(str::to_owned),
        },
        NotStarted::NoPlace(_) => Outcome::Unavailable {
            reason: not_started.to_string(),
            help: Some("call it again when some of them have ended".into()),
        },
        NotStarted::Folder(missing) => Outcome::Unavailable {
            reason: missing.to_string(),
            help: Some(format!(
                "create the folder, or correct {}",
                missing.grant.granted_by
            )),
        },
    }
}

/// A call whose guest ran.
pub(super) fn of_answer(
    tool: &Tool,
    answer: Answer,
    remains: &Remains,
    deadline: &Deadline<'_>,
) -> Outcome {
    let limits = tool.entry().limits();
    match answer {
        Ok(Ok(output)) => of_output(tool, output),
        Ok(Err(error)) => of_tool_error(tool, error, remains),
        Err(Breakdown::TimedOut) => deadline.timed_out(),
        Err(Breakdown::Cancelled) => Outcome::Cancelled,
        Err(Breakdown::OutOfMemory) => Outcome::OutOfMemory {
            limit: limits.max_memory.value,
            set_by: limits.max_memory.origin(),
        },
        Err(Breakdown::TableElements) => Outcome::LimitReached {
            kind: LimitKind::TableElements,
            limit: MAX_TABLE_ELEMENTS as u64,
        },
        Err(Breakdown::Instances) => Outcome::LimitReached {
            kind: LimitKind::Instances,
            limit: MAX_INSTANCES as u64,
        },
        Err(Breakdown::Output) => Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit: limits.max_output.value,
        },
        Err(Breakdown::Panicked(reason)) => Outcome::Internal { reason },
        Err(Breakdown::Trapped(trap)) => of_trap(tool, trap, remains),
    }
}

fn of_output(tool: &Tool, output: ToolOutput) -> Outcome {
    let limit = tool.entry().limits().max_output.value;
    if output.bytes() > limit {
        return Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit,
        };
    }
    let broken = |what: String| Outcome::ToolError(ToolError::broken_contract(what));
    match (tool.output_validator(), &output.structured) {
        (None, _) => Outcome::Ok(output),
        (Some(_), None) => broken("it promised a structured answer and gave none".into()),
        (Some(Err(reason)), _) => broken(format!("its output schema {reason}")),
        (Some(Ok(validator)), Some(structured)) => match validator.validate(structured) {
            Ok(()) => Outcome::Ok(output),
            Err(faults) => {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                broken(format!(
                    "its answer does not fit its output schema: {}",
                    faults.join("; ")
                ))
            }
        },
    }
}

fn of_tool_error(tool: &Tool, mut error: ToolError, remains: &Remains) -> Outcome {
    let entry = tool.entry();
    let limit = entry.limits().max_output.value;
    if error.bytes() > limit {
        return Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit,
        };
    }
    let unmet = entry.grants().unmet(&tool.spec().requests);
    let refused = remains.denials.first();
    // A skill that met a refusal may call it anything; that it was refused is a fact.
    if error.kind == ToolErrorKind::Denied || refused.is_some() {
        let capability = refused
            .cloned()
            .or_else(|| unmet.first().map(|r| r.capability.clone()));
        let help = capability
            .as_ref()
            .map(|capability| entry.how_to_grant(capability));
        return Outcome::Denied(Denial {
            capability,
            message: error.message,
            help,
        });
    }
    if error.hint.is_none() {
        error.hint = hint(tool, &unmet, &error.message);
    }
    Outcome::ToolError(error)
}

fn of_trap(tool: &Tool, mut trap: Trap, remains: &Remains) -> Outcome {
    if let Some(words) = remains.stderr.last_words() {
        trap.message = format!("{}: {words}", trap.message);
    }
    if let Some(capability) = remains.denials.first() {
        return Outcome::Denied(Denial {
            capability: Some(capability.clone()),
            message: trap.message,
            help: Some(tool.entry().how_to_grant(capability)),
        });
    }
    Outcome::Trapped(trap)
}

/// What libraries of guests say of a path outside of every granted folder: some name the
/// reason, others call it missing, as they do with a path inside.
const NO_SUCH_PATH: [&str; 3] = [
    "pre-opened file descriptor",
    "No such file or directory",
    "os error 44",
];

/// What the host can add to an error about a path: which folders there are.
fn hint(tool: &Tool, unmet: &[&Request], message: &str) -> Option<String> {
    if let Some(request) = unmet.first() {
        let capability = &request.capability;
        return Some(format!(
            "the tool asks to {capability}, which is not granted; {}",
            tool.entry().how_to_grant(capability)
        ));
    }
    if NO_SUCH_PATH.iter().any(|words| message.contains(words)) {
        return Some(folders_hint(tool.entry().grants()));
    }
    None
}

fn folders_hint(grants: &Grants) -> String {
    if grants.folders.is_empty() {
        return "no folder is granted to this tool".into();
    }
    let folders: Vec<String> = grants
        .folders
        .iter()
        .map(|grant| format!("`{}`", grant.guest))
        .collect();
    format!("the tool sees only {}", folders.join(", "))
}

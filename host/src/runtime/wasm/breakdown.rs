//! Why a guest gave no answer, told apart: what the engine reports is a trap in most
//! cases, what the caller must hear is the reason.

use std::time::Duration;

use wasmtime::WasmBacktrace;

use super::limits::{MAX_INSTANCES, MAX_TABLE_ELEMENTS, Refusal};
use super::session::Remains;
use crate::model::{Trap, TrapKind, format_bytes};

/// Frames of a backtrace that help an author.
const FRAMES: usize = 8;
/// Characters of one frame: names of generic functions are long.
const FRAME_CHARS: usize = 160;

/// Why a guest gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breakdown {
    /// Its deadline passed.
    TimedOut,
    /// The caller wants no answer any more.
    Cancelled,
    /// It was refused linear memory and gave up.
    OutOfMemory,
    /// It was refused table elements and gave up.
    TableElements,
    /// It has more instances, tables or memories than are allowed.
    Instances,
    /// It handed more bytes to the host at once than are allowed.
    Output,
    /// It trapped or exited.
    Trapped(Trap),
    /// A function of the host panicked.
    Panicked(String),
}

impl Breakdown {
    /// Tells apart what the engine reports as an error.
    pub(super) fn of(error: &wasmtime::Error, refused: Option<Refusal>) -> Self {
        // A guest that is refused memory may go on; if it then breaks, that is the reason.
        match refused {
            Some(Refusal::Memory) => return Self::OutOfMemory,
            Some(Refusal::TableElements) => return Self::TableElements,
            None => {}
        }
        let text = format!("{error:#}");
        if text.contains("fuel allocated for hostcalls has been exhausted") {
            return Self::Output;
        }
        if text.contains("resource limit exceeded") {
            return Self::Instances;
        }
        Self::Trapped(trap(error, &text))
    }

    /// The reason in words, for a guest whose limits were these.
    pub(super) fn explain(&self, remains: &Remains, timeout: Duration, max_memory: u64) -> String {
        let reason = match self {
            Self::TimedOut => format!("it took longer than {} s", timeout.as_secs_f64()),
            Self::Cancelled => "it was cancelled".into(),
            Self::OutOfMemory => {
                format!("it needs more memory than {}", format_bytes(max_memory))
            }
            Self::TableElements => {
                format!("it needs more than {MAX_TABLE_ELEMENTS} table elements")
            }
            Self::Instances => format!("it has more than {MAX_INSTANCES} instances"),
            Self::Output => "it answered with too many bytes".into(),
            Self::Trapped(trap) => trap.message.clone(),
            Self::Panicked(text) => format!("the host failed: {text}"),
        };
        match remains.stderr.last_words() {
            Some(words) => format!("{reason} (it said: {words})"),
            None => reason,
        }
    }
}

fn trap(error: &wasmtime::Error, text: &str) -> Trap {
    let backtrace = error
        .downcast_ref::<WasmBacktrace>()
        .map(frames)
        .unwrap_or_default();
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        let message = format!("the guest called `exit({})` instead of answering", exit.0);
        return Trap {
            kind: TrapKind::Exit,
            message,
            backtrace,
        };
    }
    let (kind, message) = match error.downcast_ref::<wasmtime::Trap>() {
        Some(wasmtime::Trap::StackOverflow) => (
            TrapKind::StackOverflow,
            "the guest's stack is exhausted (endless recursion?)".into(),
        ),
        Some(wasmtime::Trap::UnreachableCodeReached) => (
            TrapKind::Unreachable,
            "the guest gave up (a panic or an abort)".into(),
        ),
        Some(trap) => (TrapKind::Fault, trap.to_string()),
        None => (TrapKind::Fault, one_line(text)),
    };
    Trap {
        kind,
        message,
        backtrace,
    }
}

fn frames(backtrace: &WasmBacktrace) -> Vec<String> {
    backtrace
        .frames()
        .iter()
        .take(FRAMES)
        .map(|frame| match frame.func_name() {
            Some(name) => {
                let name = format!("{:#}", rustc_demangle::demangle(name));
                name.chars().take(FRAME_CHARS).collect()
            }
            None => format!("function {}", frame.func_index()),
        })
        .collect()
}

/// A text of several lines in one.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

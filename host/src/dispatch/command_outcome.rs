//! How a command ended, in the words of the caller. The only place where outcomes of
//! commands are made.

use std::fmt::Write as _;

use serde_json::json;

use super::{Deadline, Ended, Rest};
use crate::command::OutputFormat;
use crate::model::{
    ArgumentFault, Captured, Content, LimitKind, Outcome, ToolError, ToolErrorKind, ToolOutput,
    Trap, TrapKind, format_bytes,
};
use crate::registry::{CommandTool, Tool};
use crate::runtime::{Ending, ExecutionOutput, RuntimeError};

/// Bytes of a failed command's output that the caller is told at once.
const TOLD_BYTES: usize = 4096;

/// A command that ran.
pub(super) fn of_output(
    tool: &Tool,
    command: &CommandTool,
    program: &str,
    output: ExecutionOutput,
    deadline: &Deadline<'_>,
) -> Ended {
    let limits = tool.entry().limits();
    let outcome = match &output.ending {
        Ending::Exited => of_exit(tool, command, program, &output),
        Ending::TimedOut => deadline.timed_out(),
        Ending::Cancelled => Outcome::Cancelled,
        Ending::OutOfMemory { limit } => Outcome::OutOfMemory {
            limit: *limit,
            set_by: limits.max_memory.origin(),
        },
        Ending::OutOfCpuTime { limit } => Outcome::LimitReached {
            kind: LimitKind::CpuSeconds,
            limit: limit.as_secs(),
        },
        Ending::LimitReached { kind, limit } => Outcome::LimitReached {
            kind: *kind,
            limit: *limit,
        },
        Ending::Signalled { signal } => Outcome::Trapped(signalled(program, *signal, &output)),
        Ending::Trapped(trap) => {
            let mut trap = trap.clone();
            if let Some(words) = output.stderr.last_words() {
                trap.message = format!("{}: {words}", trap.message);
            }
            Outcome::Trapped(trap)
        }
    };
    Ended {
        outcome,
        stdout: output.stdout,
        stderr: output.stderr,
        waited: output.waited,
        rest: Rest::default(),
    }
}

/// A command that never ran, or whose backend broke down.
pub(super) fn of_error(error: &RuntimeError) -> Outcome {
    match error {
        RuntimeError::Unsupported { .. } => Outcome::Internal {
            reason: error.to_string(),
        },
        RuntimeError::InvalidInput { .. } => Outcome::InvalidArguments(vec![ArgumentFault {
            path: String::new(),
            message: error.to_string(),
        }]),
        _ => Outcome::Unavailable {
            reason: error.to_string(),
            help: error.help(),
        },
    }
}

fn of_exit(tool: &Tool, command: &CommandTool, program: &str, output: &ExecutionOutput) -> Outcome {
    let code = output.exit_code.unwrap_or_default();
    if !command.template.success_codes.contains(&code) {
        return Outcome::ToolError(ToolError {
            kind: ToolErrorKind::Failed,
            message: failure(program, code, output),
            data: Some(json!({ "exit_code": code })),
            hint: None,
        });
    }
    match command.template.output {
        OutputFormat::Text => Outcome::Ok(text(tool, &output.stdout)),
        OutputFormat::Json => structured(tool, program, &output.stdout),
    }
}

/// A program's name, short where it is a whole line for the shell.
fn named(program: &str) -> String {
    const CHARS: usize = 60;
    let line = program.lines().next().unwrap_or_default();
    if line.chars().count() > CHARS || program.lines().nth(1).is_some() {
        let cut: String = line.chars().take(CHARS).collect();
        format!("`{cut}…`")
    } else {
        format!("`{line}`")
    }
}

/// What a failed command said: its complaint, or else its output.
fn failure(program: &str, code: i32, output: &ExecutionOutput) -> String {
    let mut message = format!("{} exited with code {code}", named(program));
    for stream in [&output.stderr, &output.stdout] {
        let text = stream.text();
        let said = tail(&text);
        if !said.is_empty() {
            let _ = write!(message, ":\n{said}");
            break;
        }
    }
    message
}

/// The end of a text, from the beginning of a line.
fn tail(text: &str) -> &str {
    let text = text.trim();
    if text.len() <= TOLD_BYTES {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - TOLD_BYTES);
    let text = &text[from..];
    text.split_once('\n').map_or(text, |(_, rest)| rest)
}

fn text(tool: &Tool, stdout: &Captured) -> ToolOutput {
    let mut contents = Vec::new();
    let text = stdout.text();
    if !text.is_empty() {
        contents.push(Content::Text { text });
    }
    if stdout.dropped > 0 {
        contents.push(Content::Text {
            text: format!(
                "[{} more were cut off: {} keeps {}]",
                format_bytes(stdout.dropped),
                tool.entry().limits().max_output.origin(),
                format_bytes(tool.entry().limits().max_output.value),
            ),
        });
    }
    ToolOutput {
        contents,
        structured: None,
    }
}

fn structured(tool: &Tool, program: &str, stdout: &Captured) -> Outcome {
    if stdout.dropped > 0 {
        return Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit: tool.entry().limits().max_output.value,
        };
    }
    match serde_json::from_slice(&stdout.bytes) {
        Ok(value) => Outcome::Ok(ToolOutput {
            contents: Vec::new(),
            structured: Some(value),
        }),
        Err(error) => Outcome::ToolError(ToolError {
            kind: ToolErrorKind::Failed,
            message: format!("{} did not print JSON: {error}", named(program)),
            data: None,
            hint: Some(format!(
                "`output = \"json\"` of the tool `{}` asks for one JSON value on standard output",
                tool.name()
            )),
        }),
    }
}

fn signalled(program: &str, signal: i32, output: &ExecutionOutput) -> Trap {
    let mut message = format!("{} was ended by signal {signal}", named(program));
    if let Some(name) = signal_name(signal) {
        let _ = write!(message, " ({name})");
    }
    if let Some(words) = output.stderr.last_words() {
        let _ = write!(message, ": {words}");
    }
    Trap {
        kind: TrapKind::Signal,
        message,
        backtrace: Vec::new(),
    }
}

/// The names that Linux gives the signals that end programs.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

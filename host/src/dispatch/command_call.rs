//! Calls of tools that are made of commands.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Deadline, Ended, command_outcome};
use crate::command::FilledCommand;
use crate::model::{CallOptions, Outcome};
use crate::registry::{CommandTool, Tool};
use crate::runtime::{Execution, Program};

pub(super) async fn call(
    tool: &Arc<Tool>,
    command: &CommandTool,
    arguments: Map<String, Value>,
    options: CallOptions,
) -> Ended {
    let filled = match command.template.fill(&command.parameters, arguments) {
        Ok(filled) => filled,
        Err(faults) => return Outcome::InvalidArguments(faults).into(),
    };
    let deadline = Deadline::of(tool, &options);
    let execution = execution(tool, command, &filled, deadline.limit, &options);
    match command.adapter.run(execution).await {
        Ok(output) => command_outcome::of_output(tool, command, &filled.command, output, &deadline),
        Err(error) => command_outcome::of_error(&error).into(),
    }
}

fn execution<'a>(
    tool: &Tool,
    command: &'a CommandTool,
    filled: &'a FilledCommand,
    timeout: Duration,
    options: &'a CallOptions,
) -> Execution<'a> {
    let program = match &filled.arguments {
        None => Program::Shell(&filled.command),
        Some(args) => Program::Direct {
            program: &filled.command,
            args,
        },
    };
    Execution {
        working_dir: command.working_dir.as_deref(),
        stdin: filled.stdin.as_deref(),
        cancel: options.cancel.as_ref(),
        events: options.events.clone(),
        max_output: Some(tool.entry().limits().max_output.value),
        max_memory: command.max_memory,
        ..Execution::new(program, &command.env, timeout)
    }
}

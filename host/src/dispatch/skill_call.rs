//! Calls of modules' tools.

use std::sync::Arc;

use super::{Ended, Loader, outcome};
use crate::model::{CallOptions, Outcome};
use crate::registry::Tool;
use crate::runtime::wasm::session::SessionLimits;
use crate::runtime::wasm::{self, ModuleCall};

pub(super) async fn call(
    tool: &Arc<Tool>,
    loader: &Arc<Loader>,
    arguments: &str,
    options: CallOptions,
) -> Ended {
    let entry = tool.entry();
    let limits = entry.limits();
    let callers = options.timeout.filter(|own| *own < limits.timeout.value);
    let timeout = callers.unwrap_or(limits.timeout.value);
    let session_limits = SessionLimits {
        max_memory: limits.max_memory.value,
        max_output: limits.max_output.value,
    };
    let called = wasm::call(
        loader,
        ModuleCall {
            module: entry.module(),
            tool: &tool.spec().name,
            arguments,
            access: entry.access(),
            limits: &session_limits,
            timeout,
            cancel: options.cancel.as_ref(),
            events: options.events,
        },
    )
    .await;
    let timed_out = || Outcome::TimedOut {
        limit: timeout,
        set_by: match callers {
            Some(_) => "the caller".to_owned(),
            None => limits.timeout.origin(),
        },
    };
    match called {
        Err(not_started) => outcome::of_not_started(not_started, timed_out).into(),
        Ok((answer, remains)) => Ended {
            outcome: outcome::of_answer(tool, answer, &remains, timed_out),
            stdout: remains.stdout,
            stderr: remains.stderr,
        },
    }
}

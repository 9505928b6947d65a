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
    let (timeout, timeout_set_by) = match options.timeout {
        Some(own) if own < limits.timeout.value => (own, "the caller".to_owned()),
        _ => (limits.timeout.value, String::new()),
    };
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
        set_by: if timeout_set_by.is_empty() {
            limits.timeout.origin()
        } else {
            timeout_set_by.clone()
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

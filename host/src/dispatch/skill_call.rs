//! Calls of modules' tools.

use std::sync::Arc;
use std::time::Instant;

use super::{Deadline, Ended, Loader, Rest, skill_outcome};
use crate::model::CallOptions;
use crate::registry::{Skill, Tool};
use crate::runtime::wasm::session::SessionLimits;
use crate::runtime::wasm::{self, ModuleCall};

pub(super) async fn call(
    tool: &Arc<Tool>,
    skill: &Skill,
    loader: &Arc<Loader>,
    arguments: &str,
    started: Instant,
    options: CallOptions,
) -> Ended {
    let limits = tool.entry().limits();
    let deadline = Deadline::of(tool, &options);
    let session_limits = SessionLimits {
        max_memory: limits.max_memory.value,
        max_output: limits.max_output.value,
    };
    let called = wasm::call(
        loader,
        ModuleCall {
            module: &skill.module,
            tool: &tool.spec().name,
            arguments,
            access: &skill.access,
            limits: &session_limits,
            started,
            timeout: deadline.limit,
            cancel: options.cancel.as_ref(),
            events: options.events,
        },
    )
    .await;
    match called {
        Err(not_started) => Ended {
            waited: not_started.waited(),
            ..skill_outcome::of_not_started(not_started, &deadline).into()
        },
        Ok((answer, remains)) => Ended {
            outcome: skill_outcome::of_answer(tool, answer, &remains, &deadline),
            stdout: remains.stdout,
            stderr: remains.stderr,
            waited: remains.waited,
            rest: Rest(Some(remains.guest)),
        },
    }
}

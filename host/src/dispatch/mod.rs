//! One call from its name to its outcome: find the tool, check the arguments, run it
//! under its limits, and say how it ended.

mod arguments;
mod command_call;
mod command_outcome;
#[cfg(feature = "wasm-runtime")]
mod skill_call;
#[cfg(feature = "wasm-runtime")]
mod skill_outcome;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::Setting;
use crate::model::{CallOptions, CallReport, Captured, LimitKind, Outcome, Shown as _};
use crate::registry::{self, Runner, Snapshot, Tool};

#[cfg(feature = "wasm-runtime")]
pub(crate) use crate::runtime::wasm::loader::Loader;
#[cfg(feature = "wasm-runtime")]
use crate::runtime::wasm::session::Guest;

/// Nothing loads modules in this build.
#[cfg(not(feature = "wasm-runtime"))]
pub(crate) struct Loader;
/// No guest is left of a call in this build.
#[cfg(not(feature = "wasm-runtime"))]
type Guest = std::convert::Infallible;

/// Bytes that the arguments of a call may have.
const MAX_ARGUMENT_BYTES: usize = 16 << 20;

/// How the part of a call ended that may have run a guest.
pub(crate) struct Ended {
    pub outcome: Outcome,
    pub stdout: Captured,
    pub stderr: Captured,
    /// How long it waited for a place.
    pub waited: Duration,
    pub rest: Rest,
}

/// What is left of a call that has ended, and still holds something: its answer need not
/// wait until that is free again.
#[derive(Default)]
#[must_use = "dropping it takes a while"]
pub(crate) struct Rest(#[allow(dead_code, reason = "dropping it is its use")] Option<Guest>);

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            stdout: Captured::default(),
            stderr: Captured::default(),
            waited: Duration::ZERO,
            rest: Rest::default(),
        }
    }
}

/// When a call is ended, and who says so.
struct Deadline<'a> {
    limit: Duration,
    /// `None`: the caller.
    set_by: Option<&'a Setting<Duration>>,
}

impl<'a> Deadline<'a> {
    /// The tool's, or the caller's where it is shorter.
    fn of(tool: &'a Tool, options: &CallOptions) -> Self {
        let configured = &tool.entry().limits().timeout;
        match options.timeout.filter(|own| *own < configured.value) {
            Some(limit) => Self {
                limit,
                set_by: None,
            },
            None => Self {
                limit: configured.value,
                set_by: Some(configured),
            },
        }
    }

    fn timed_out(&self) -> Outcome {
        Outcome::TimedOut {
            limit: self.limit,
            set_by: self
                .set_by
                .map_or_else(|| "the caller".to_owned(), Setting::origin),
        }
    }
}

/// Calls a tool by name.
pub(crate) async fn call(
    snapshot: &Snapshot,
    loader: &Arc<Loader>,
    name: &str,
    arguments: &str,
    options: CallOptions,
) -> (CallReport, Rest) {
    let started = Instant::now();
    // A call that never waits would keep whoever calls in a loop from ever yielding.
    tokio::task::coop::consume_budget().await;
    let (ended, duration): (Ended, _) = match snapshot.tool(name) {
        Some(tool) => {
            let running = tool.counters().begin(started);
            let ended = run(tool, loader, arguments, started, options).await;
            let duration = started.elapsed();
            running.end(ended.outcome.kind(), duration);
            (ended, duration)
        }
        None => (unknown(snapshot, name).into(), started.elapsed()),
    };
    let report = CallReport {
        outcome: ended.outcome,
        duration,
        waited: ended.waited,
        stdout: ended.stdout,
        stderr: ended.stderr,
        snapshot: snapshot.number(),
    };
    (report, ended.rest)
}

async fn run(
    tool: &Arc<Tool>,
    loader: &Arc<Loader>,
    arguments: &str,
    started: Instant,
    options: CallOptions,
) -> Ended {
    if arguments.len() > MAX_ARGUMENT_BYTES {
        let limit = MAX_ARGUMENT_BYTES as u64;
        return Outcome::LimitReached {
            kind: LimitKind::ArgumentBytes,
            limit,
        }
        .into();
    }
    // The first call of a module loads its code while the schema is made ready here.
    #[cfg(feature = "wasm-runtime")]
    if let Some(module) = tool.entry().module() {
        module.preload(loader);
    }
    let validator = match tool.input_validator() {
        Ok(validator) => validator,
        Err(reason) => {
            let reason = format!("the tool's input schema {reason}");
            return Outcome::Unavailable { reason, help: None }.into();
        }
    };
    let arguments = match arguments::check(arguments, validator) {
        Ok(arguments) => arguments,
        Err(faults) => return Outcome::InvalidArguments(faults).into(),
    };
    #[cfg(not(feature = "wasm-runtime"))]
    let _ = (loader, started);
    match tool.entry().runner() {
        #[cfg(feature = "wasm-runtime")]
        Runner::Skill(skill) => {
            skill_call::call(tool, skill, loader, arguments.text, started, options).await
        }
        Runner::Command(command) => {
            command_call::call(tool, command, arguments.values, options).await
        }
    }
}

/// Says why a name is no tool: unknown, or known and broken.
fn unknown(snapshot: &Snapshot, name: &str) -> Outcome {
    let mut broken = snapshot.broken().iter();
    if let Some(broken) = broken.find(|broken| registry::may_have(&broken.name, name)) {
        let place = match (&broken.place, &broken.module) {
            (Some(place), _) => format!(" ({place})"),
            (None, Some(module)) => format!(" ({})", module.shown()),
            (None, None) => String::new(),
        };
        let reason = format!("{}{place}", broken.reason);
        return Outcome::Unavailable {
            reason,
            help: broken.help.clone(),
        };
    }
    Outcome::UnknownTool {
        name: name.to_owned(),
        nearest: snapshot.nearest(name).map(str::to_owned),
    }
}

//! How a run of a command ended, in the words that all backends share.

use std::time::{Duration, Instant};

use crate::model::LimitKind;
use crate::runtime::adapter::{Ending, Execution, ExecutionOutput};
use crate::runtime::wasm::breakdown::Breakdown;
use crate::runtime::wasm::fault::ModuleFault;
use crate::runtime::wasm::limits::{MAX_INSTANCES, MAX_TABLE_ELEMENTS};
use crate::runtime::wasm::session::{Remains, SessionLimits};
use crate::runtime::wasm::{CommandEnd, NotStarted};
use crate::runtime::{Result, RuntimeError};

/// The backend's name in errors.
const BACKEND: &str = "wasm";

/// What a command left behind that ran.
pub(super) fn output(
    end: CommandEnd,
    remains: Remains,
    limits: &SessionLimits,
    started: Instant,
) -> Result<ExecutionOutput> {
    let limit_reached = |kind, limit| Ending::LimitReached { kind, limit };
    let (exit_code, ending) = match end {
        Ok(code) => (Some(code), Ending::Exited),
        Err(breakdown) => (
            None,
            match breakdown {
                Breakdown::TimedOut => Ending::TimedOut,
                Breakdown::Cancelled => Ending::Cancelled,
                Breakdown::OutOfMemory => Ending::OutOfMemory {
                    limit: limits.max_memory,
                },
                Breakdown::TableElements => {
                    limit_reached(LimitKind::TableElements, MAX_TABLE_ELEMENTS as u64)
                }
                Breakdown::Instances => limit_reached(LimitKind::Instances, MAX_INSTANCES as u64),
                Breakdown::Output => limit_reached(LimitKind::OutputBytes, limits.max_output),
                Breakdown::Trapped(trap) => Ending::Trapped(trap),
                Breakdown::Panicked(reason) => {
                    return Err(RuntimeError::Interrupted {
                        backend: BACKEND.into(),
                        reason,
                    });
                }
            },
        ),
    };
    Ok(ExecutionOutput {
        stdout: remains.stdout,
        stderr: remains.stderr,
        exit_code,
        duration: started.elapsed(),
        waited: remains.waited,
        ending,
    })
}

/// Why a command did not begin.
pub(super) fn not_started(
    command: &str,
    why: NotStarted,
    execution: &Execution<'_>,
    started: Instant,
) -> Result<ExecutionOutput> {
    match why {
        NotStarted::Module(fault) => Err(not_executable(command, &fault)),
        NotStarted::Folder(missing) => Err(RuntimeError::Folder {
            path: missing.grant.host,
            reason: missing.reason,
            granted_by: missing.grant.granted_by,
        }),
        NotStarted::TimedOut => Ok(not_loaded(command, execution.timeout, started)),
        NotStarted::NoPlace(_) => Err(RuntimeError::Unavailable {
            backend: BACKEND.into(),
            reason: why.to_string(),
            help: "try again later, or allow it more time".into(),
        }),
        NotStarted::Cancelled => Ok(ExecutionOutput::unheard(Ending::Cancelled, started)),
    }
}

/// The file is there and is no command.
pub(super) fn not_executable(command: &str, fault: &ModuleFault) -> RuntimeError {
    let help = fault
        .help()
        .unwrap_or("name another module, or build this one again");
    RuntimeError::NotExecutable {
        command: command.to_owned(),
        reason: fault.to_string(),
        help: Some(help.into()),
    }
}

/// The deadline passed before there was something to run. Large programs take longer to
/// compile than a call may take; they do so only once, for the compiling goes on.
pub(super) fn not_loaded(command: &str, timeout: Duration, started: Instant) -> ExecutionOutput {
    tracing::info!(
        command,
        ?timeout,
        "a module was not compiled in time; that goes on"
    );
    ExecutionOutput::unheard(Ending::TimedOut, started)
}

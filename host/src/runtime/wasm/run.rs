//! Running a command once, in an instance of its own.
//!
//! Invariant: the deadline covers everything, also loading the code and start functions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::abi::Prepared;
use super::access::Access;
use super::breakdown::Breakdown;
use super::fault::ModuleFault;
use super::loader::Loader;
use super::module::Module;
use super::process::Process;
use super::session::{self, Remains, Session, SessionLimits, World};
use super::{Begun, NotStarted, Wanted, begin};
use crate::model::EventSink;

/// What a run of a command needs.
pub struct CommandCall<'a> {
    /// The module.
    pub module: &'a Arc<Module>,
    /// Its arguments, variables, standard input and working folder.
    pub process: Process<'a>,
    /// What the guest may touch.
    pub access: &'a Access,
    /// What the guest may use.
    pub limits: &'a SessionLimits,
    /// When it is ended.
    pub timeout: Duration,
    /// Ends it earlier.
    pub cancel: Option<&'a CancellationToken>,
    /// Hears its output as it comes.
    pub events: Option<EventSink>,
}

/// The exit code of a command, 0 to 255, or why it has none.
pub type CommandEnd = Result<i32, Breakdown>;

/// Runs a command in a fresh instance.
///
/// # Errors
///
/// Only when the guest never ran; how it ended otherwise is in the answer.
pub async fn run(
    loader: &Arc<Loader>,
    call: CommandCall<'_>,
) -> Result<(CommandEnd, Remains), NotStarted> {
    let started = Instant::now();
    let wanted = Wanted {
        module: call.module,
        timeout: call.timeout,
        cancel: call.cancel,
    };
    let Begun {
        code,
        place,
        waited,
    } = begin(loader, &wanted).await?;
    let Prepared::Command(command) = &code.prepared else {
        return Err(NotStarted::Module(ModuleFault::WrongUse {
            is: "skill",
            wanted: "command",
        }));
    };
    let world = World {
        access: call.access,
        limits: call.limits,
        events: call.events,
        process: Some(&call.process),
        place,
        waited,
    };
    let mut session = Session::start(loader.engine_of(code), world)?;
    let rest = call.timeout.saturating_sub(started.elapsed());
    let guest = command.run(&mut session.store);
    let watched = session::watch(guest, rest, call.cancel).await;
    Ok(session.end(watched))
}

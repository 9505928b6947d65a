//! WebAssembly modules: compiled once, called in fresh instances, with what was granted.
//!
//! The way of a module: [`source`] → [`shape`] → [`abi`] (recognise) → [`loader`]
//! (compile or cache, describe) → [`module`]. The way of a call: [`access`] → [`session`]
//! → [`abi`] (call or run) → [`breakdown`]. [`adapter`] runs commands by their names.

pub mod abi;
pub mod access;
pub mod adapter;
pub mod breakdown;
mod call_state;
#[cfg(test)]
mod child_process;
pub mod compile_cache;
pub mod compiled;
pub mod engine;
pub mod fault;
mod health;
pub mod imports;
pub mod inspect;
pub mod limits;
pub mod loader;
pub mod module;
mod network;

mod open;
pub mod process;
mod run;
pub mod session;
pub mod shape;
pub mod source;
pub mod state;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use self::health::health;
pub use self::run::{CommandCall, CommandEnd, run};

use self::abi::Prepared;
use self::access::{Access, MissingFolder};
use self::breakdown::Breakdown;
use self::fault::ModuleFault;
use self::loader::Loader;
use self::module::Module;
use self::session::{Remains, Session, SessionLimits};
use crate::model::{EventSink, ToolError, ToolOutput};

/// What a call of a module's tool needs.
pub struct ModuleCall<'a> {
    /// The module.
    pub module: &'a Arc<Module>,
    /// The tool, by the module's own name for it.
    pub tool: &'a str,
    /// JSON text that fits the tool's schema.
    pub arguments: &'a str,
    /// What the guest may touch.
    pub access: &'a Access,
    /// What the guest may use.
    pub limits: &'a SessionLimits,
    /// When it is ended.
    pub timeout: Duration,
    /// Ends it earlier.
    pub cancel: Option<&'a CancellationToken>,
    /// Hears of what happens.
    pub events: Option<EventSink>,
}

/// Why a call could not begin.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    /// The module's code can not be had.
    #[error(transparent)]
    Module(#[from] ModuleFault),
    /// A granted folder is not there.
    #[error(transparent)]
    Folder(#[from] MissingFolder),
    /// The deadline passed while the code was loaded.
    #[error("its code was not loaded in time")]
    TimedOut,
    /// The caller wants no answer any more.
    #[error("cancelled")]
    Cancelled,
}

/// What the guest said, or why it said nothing.
pub type Answer = Result<Result<ToolOutput, ToolError>, Breakdown>;

/// Calls a tool of a module in a fresh instance.
///
/// # Errors
///
/// Only when the guest never ran; how it ended otherwise is in the answer.
pub async fn call(
    loader: &Arc<Loader>,
    call: ModuleCall<'_>,
) -> Result<(Answer, Remains), NotStarted> {
    let started = tokio::time::Instant::now();
    let prepared = prepared(loader, call.module, call.timeout, call.cancel).await?;
    let Prepared::Skill(skill) = prepared else {
        return Err(NotStarted::Module(ModuleFault::WrongUse {
            is: "command",
            wanted: "skill",
        }));
    };
    let engine = loader.engine();
    let mut session = Session::start(engine, call.access, call.limits, call.events, None)?;
    let rest = call.timeout.saturating_sub(started.elapsed());
    let guest = skill.call(&mut session.store, call.tool, call.arguments);
    let watched = session::watch(guest, rest, call.cancel).await;
    Ok(session.end(watched))
}

/// A module's code, loaded within the time that its caller has.
async fn prepared<'a>(
    loader: &Arc<Loader>,
    module: &'a Arc<Module>,
    timeout: Duration,
    cancel: Option<&CancellationToken>,
) -> Result<&'a Prepared, NotStarted> {
    let loading = async { Ok(module.prepared(loader).await) };
    match session::watch(loading, timeout, cancel).await {
        session::Watched::Done(Ok(prepared)) => Ok(prepared?),
        session::Watched::Cancelled => Err(NotStarted::Cancelled),
        _ => Err(NotStarted::TimedOut),
    }
}

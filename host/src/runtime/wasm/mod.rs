//! WebAssembly modules: compiled once, called in fresh instances, with what was granted.
//!
//! The way of a module: [`source`] → [`shape`] → [`abi`] (recognise) → [`loader`]
//! (compile or cache, describe) → [`module`]. The way of a call: [`access`] → [`session`]
//! → [`abi`] (call or run) → [`breakdown`]. [`adapter`] runs commands by their names.

pub mod abi;
pub mod access;
pub mod adapter;
pub mod background;
pub mod breakdown;
mod call_state;
#[cfg(test)]
mod child_process;
mod clock;
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
pub mod pool;
pub mod process;
mod run;
pub mod session;
pub mod shape;
pub mod source;
pub mod state;
mod streams;
mod wasi;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

pub use self::health::health;
pub use self::run::{CommandCall, CommandEnd, run};

use self::abi::Prepared;
use self::access::{Access, MissingFolder};
use self::breakdown::Breakdown;
use self::fault::ModuleFault;
use self::loader::Loader;
use self::module::{Code, Module};
use self::pool::{PLACES, Place};
use self::session::{Remains, Session, SessionLimits, World};
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
    /// When it began, for its caller.
    pub started: Instant,
    /// How long after that it is ended.
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
    /// The deadline passed while other calls had all places.
    #[error(
        "it waited for {} s while {PLACES} other calls were running, which is as many as can run at one time",
        .0.as_secs_f64()
    )]
    NoPlace(Duration),
    /// The caller wants no answer any more.
    #[error("cancelled")]
    Cancelled,
}

impl NotStarted {
    /// How long it waited for a place.
    pub fn waited(&self) -> Duration {
        match self {
            Self::NoPlace(waited) => *waited,
            _ => Duration::ZERO,
        }
    }
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
    let Prepared::Skill(skill) = &code.prepared else {
        return Err(NotStarted::Module(ModuleFault::WrongUse {
            is: "command",
            wanted: "skill",
        }));
    };
    let world = World {
        access: call.access,
        limits: call.limits,
        events: call.events,
        process: None,
        place,
        waited,
    };
    let mut session = Session::start(loader.engine_of(code), world)?;
    let rest = call.timeout.saturating_sub(call.started.elapsed());
    let guest = skill.call(&mut session.store, call.tool, call.arguments);
    let watched = session::watch(guest, rest, call.cancel).await;
    Ok(session.end(watched))
}

/// A module that is to run, and for how long its caller waits.
struct Wanted<'a> {
    module: &'a Arc<Module>,
    timeout: Duration,
    cancel: Option<&'a CancellationToken>,
}

/// What a module runs with.
struct Begun<'a> {
    code: &'a Code,
    place: Option<Place>,
    /// How long it waited for the place.
    waited: Duration,
}

impl<'a> Begun<'a> {
    fn at_once(code: &'a Code, place: Option<Place>) -> Self {
        Self {
            code,
            place,
            waited: Duration::ZERO,
        }
    }
}

/// Waits for the code of the module and for a place to run it in.
async fn begin<'a>(loader: &Arc<Loader>, call: &Wanted<'a>) -> Result<Begun<'a>, NotStarted> {
    // The rule: all is there, and nobody needs a clock to wait for it.
    if let Some(code) = call.module.loaded() {
        match &code.pool {
            None => return Ok(Begun::at_once(code, None)),
            Some(pool) => {
                if let Some(place) = pool.free_place() {
                    return Ok(Begun::at_once(code, Some(place)));
                }
            }
        }
    }
    let beginning = async {
        let code = match call.module.code(loader).await {
            Ok(code) => code,
            Err(fault) => return Ok(Err(fault)),
        };
        let asked = Instant::now();
        let place = match &code.pool {
            None => None,
            Some(pool) => Some(pool.place().await),
        };
        Ok(Ok(Begun {
            code,
            place,
            waited: asked.elapsed(),
        }))
    };
    match session::watch(beginning, call.timeout, call.cancel).await {
        session::Watched::Done(Ok(begun)) => Ok(begun?),
        session::Watched::Cancelled => Err(NotStarted::Cancelled),
        session::Watched::Panicked(text) => Err(ModuleFault::NotCompiled(text).into()),
        session::Watched::Done(Err(error)) => {
            Err(ModuleFault::NotCompiled(breakdown::one_line(&format!("{error:#}"))).into())
        }
        session::Watched::TimedOut if call.module.loaded().is_some() => {
            Err(NotStarted::NoPlace(call.timeout))
        }
        session::Watched::TimedOut => Err(NotStarted::TimedOut),
    }
}

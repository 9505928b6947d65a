//! One guest from its start to its end, watched: time, memory, output, cancellation.
//!
//! Invariant: whatever the guest does, [`watch`] returns when its deadline passes, and
//! dropping the [`Session`] frees everything the guest held, its place last.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use tokio::task::coop::unconstrained;
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, UpdateDeadline};

use super::access::{Access, MissingFolder};
use super::breakdown::Breakdown;
use super::call_state::CallState;
use super::clock::Ticking;
use super::engine::Engine;
use super::limits::MAX_HANDLES;
use super::pool::Place;
use super::process::Process;
use crate::model::{Capability, Captured, EventSink};

/// Bytes that a guest may hand to the host at once, beyond its output limit.
const HOSTCALL_FLOOR: u64 = 16 << 20;

/// Limits of one guest.
#[derive(Clone)]
pub struct SessionLimits {
    /// Bytes of linear memory.
    pub max_memory: u64,
    /// Bytes kept of each output stream.
    pub max_output: u64,
}

/// A store for one guest.
pub(super) struct Session {
    pub store: Store<CallState>,
    waited: Duration,
    #[expect(dead_code, reason = "held for its end")]
    ticking: Ticking,
    /// After the store: it has the instance that lives there.
    #[expect(dead_code, reason = "held for its end")]
    place: Option<Place>,
}

/// What a guest is started with.
pub(super) struct World<'a> {
    /// What it may touch.
    pub access: &'a Access,
    /// What it may use.
    pub limits: &'a SessionLimits,
    /// Hears of what happens.
    pub events: Option<EventSink>,
    /// Arguments, variables and standard input of a command.
    pub process: Option<&'a Process<'a>>,
    /// Where the pool keeps its instance.
    pub place: Option<Place>,
    /// How long it waited for that.
    pub waited: Duration,
}

/// What a guest left behind.
pub struct Remains {
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// What it asked for and was not granted.
    pub denials: Vec<Capability>,
    /// How long it waited for a place.
    pub waited: Duration,
    /// The guest itself, which does nothing any more.
    pub guest: Guest,
}

/// A guest that has ended. Dropping it frees everything that it held, its place last, which
/// takes a while: whoever waits for the answer can have it before.
pub struct Guest(#[expect(dead_code, reason = "dropping it is its use")] Session);

impl Session {
    /// Makes the world of a guest; nothing of the guest runs yet.
    pub fn start(engine: &Engine, world: World<'_>) -> Result<Self, MissingFolder> {
        let World {
            access,
            limits,
            events,
            process,
            place,
            waited,
        } = world;
        let state = CallState::new(access, limits, events, process)?;
        let mut store = Store::new(engine.wasmtime(), state);
        store.limiter(|state| &mut state.limiter);
        // Before instantiation: a new store's deadline is in the past already.
        store.set_epoch_deadline(1);
        // A yield of the runtime's own: input, timers and signals are looked at before the
        // guest goes on, also where guests keep all its threads busy.
        store.epoch_deadline_callback(|_| {
            let others = Box::pin(tokio::task::yield_now());
            Ok(UpdateDeadline::YieldCustom(1, others))
        });
        let hostcall_bytes = match process {
            // A program may write all that it has at once, and must not fail for it.
            Some(_) => limits.max_memory,
            None => limits.max_output.saturating_mul(2),
        };
        let hostcall_bytes = hostcall_bytes.max(HOSTCALL_FLOOR);
        store.set_hostcall_fuel(usize::try_from(hostcall_bytes).unwrap_or(usize::MAX));
        store.set_max_component_handles(MAX_HANDLES);
        Ok(Self {
            store,
            waited,
            ticking: engine.tick(),
            place,
        })
    }

    /// Ends the guest: tells apart how it ended, and takes what it left behind.
    pub fn end<T>(self, watched: Watched<T>) -> (Result<T, Breakdown>, Remains) {
        let state = self.store.data();
        let refused = state.limiter.refused();
        let result = match watched {
            Watched::Done(Ok(answer)) => Ok(answer),
            Watched::Done(Err(error)) => Err(Breakdown::of(&error, refused)),
            Watched::TimedOut => Err(Breakdown::TimedOut),
            Watched::Cancelled => Err(Breakdown::Cancelled),
            Watched::Panicked(text) => Err(Breakdown::Panicked(text)),
        };
        let (stdout, stderr) = state.wasi.output();
        let remains = Remains {
            stdout,
            stderr,
            denials: state.policy.denials.take(),
            waited: self.waited,
            guest: Guest(self),
        };
        (result, remains)
    }
}

/// How watching a guest ended.
pub(super) enum Watched<T> {
    /// The guest came to an end by itself, well or not.
    Done(wasmtime::Result<T>),
    /// Its deadline passed.
    TimedOut,
    /// The caller wants no answer any more.
    Cancelled,
    /// A function of the host panicked.
    Panicked(String),
}

/// Waits for a guest, at most until its deadline. One that has passed lets nothing begin.
pub(super) async fn watch<T>(
    guest: impl Future<Output = wasmtime::Result<T>>,
    timeout: Duration,
    cancel: Option<&CancellationToken>,
) -> Watched<T> {
    if timeout.is_zero() {
        return Watched::TimedOut;
    }
    let began = Instant::now();
    let mut guest = pin!(AssertUnwindSafe(guest).catch_unwind());
    let mut end = None;
    std::future::poll_fn(|context| {
        if let Poll::Ready(ended) = guest.as_mut().poll(context) {
            return Poll::Ready(Watched::of(ended));
        }
        // Most guests are done in their first turn, and need no timer.
        let end = end.get_or_insert_with(|| {
            let rest = timeout.saturating_sub(began.elapsed());
            // A guest that uses up its task's turn must not hide its end.
            Box::pin(unconstrained(end_of(rest, cancel)))
        });
        end.as_mut().poll(context)
    })
    .await
}

/// Waits until a guest is to be ended.
async fn end_of<T>(rest: Duration, cancel: Option<&CancellationToken>) -> Watched<T> {
    let late = tokio::time::sleep(rest);
    let Some(cancel) = cancel else {
        late.await;
        return Watched::TimedOut;
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Watched::Cancelled,
        () = late => Watched::TimedOut,
    }
}

impl<T> Watched<T> {
    fn of(ended: std::thread::Result<wasmtime::Result<T>>) -> Self {
        match ended {
            Err(panic) => Self::Panicked(panic_text(&*panic)),
            Ok(done) => Self::Done(done),
        }
    }
}
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

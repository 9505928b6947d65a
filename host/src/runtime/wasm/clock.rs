//! The clock of engines: it makes busy guests yield.
//!
//! Invariants: it ticks on a thread of its own, which a busy async worker can not hold up,
//! while any guest runs; it stands still where none does, so that an idle host wakes nobody;
//! its thread ends with its engines, whoever holds them.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How often a busy guest must yield, and the grain of deadlines inside guest code. Two
/// guests on two processors keep whoever asks for something else waiting for two of these.
pub const TICK: Duration = Duration::from_millis(5);

/// Ticks that find no guest before the clock stands still: the next call mostly comes soon,
/// or much later.
const PATIENCE: u32 = 200;
/// How long it stands still before it looks whether there still are engines.
const REST: Duration = Duration::from_secs(5);

/// Ticks for engines. Clones are the same clock.
#[derive(Clone)]
pub(super) struct Clock {
    shared: Arc<Shared>,
    thread: Thread,
}

struct Shared {
    engines: Mutex<Vec<EngineWeak>>,
    /// Referred to by every guest that runs, which is cheaper than to count them.
    guests: Arc<()>,
    /// It stands still, or is about to.
    rests: AtomicBool,
}

/// A guest that may be busy, until this is dropped.
pub(super) struct Ticking(#[expect(dead_code, reason = "held for its end")] Arc<()>);

impl Clock {
    /// A clock that ticks for this engine.
    pub fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            engines: Mutex::new(vec![engine.weak()]),
            guests: Arc::default(),
            rests: AtomicBool::new(false),
        });
        let ticking = Arc::clone(&shared);
        let started = thread::Builder::new()
            .name("prx-clock".into())
            .spawn(move || ticking.run())?;
        let thread = started.thread().clone();
        Ok(Self { shared, thread })
    }

    /// Ticks for another engine too. The first one must still live: a clock without
    /// engines has ended.
    pub fn add(&self, engine: &Engine) {
        lock(&self.shared.engines).push(engine.weak());
    }

    /// Ticks while a guest runs.
    pub fn tick(&self) -> Ticking {
        let ticking = Ticking(Arc::clone(&self.shared.guests));
        // Either this guest is seen before the clock rests, or its rest is seen here.
        fence(SeqCst);
        if self.shared.rests.load(SeqCst) {
            self.thread.unpark();
        }
        ticking
    }
}

impl Shared {
    fn run(&self) {
        let mut quiet = 0;
        while tick(&self.engines) {
            thread::sleep(TICK);
            quiet = if self.has_guests() { 0 } else { quiet + 1 };
            if quiet < PATIENCE {
                continue;
            }
            self.rests.store(true, SeqCst);
            fence(SeqCst);
            if !self.has_guests() {
                thread::park_timeout(REST);
            }
            self.rests.store(false, SeqCst);
            quiet = 0;
        }
    }

    fn has_guests(&self) -> bool {
        Arc::strong_count(&self.guests) > 1
    }
}

/// Moves all engines on that still live; says whether there are any.
fn tick(engines: &Mutex<Vec<EngineWeak>>) -> bool {
    let mut engines = lock(engines);
    engines.retain(|engine| match engine.upgrade() {
        Some(engine) => {
            engine.increment_epoch();
            true
        }
        None => false,
    });
    !engines.is_empty()
}

fn lock(engines: &Mutex<Vec<EngineWeak>>) -> MutexGuard<'_, Vec<EngineWeak>> {
    engines.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use wasmtime::{Config, Instance, Module, Store};

    use super::*;

    /// `(module (func (export "spin") (loop (br 0))))`
    const SPIN: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\
        \x07\x08\x01\x04spin\0\0\x0a\x09\x01\x07\0\x03\x40\x0c\0\x0b\x0b";

    #[test]
    fn it_rests_when_no_guest_runs_and_ticks_for_the_next_one() {
        let engine = Engine::new(Config::new().epoch_interruption(true)).unwrap();
        let clock = Clock::start(&engine).unwrap();
        let module = Module::new(&engine, SPIN).unwrap();
        for _ in 0..2 {
            while !clock.shared.rests.load(SeqCst) {
                thread::yield_now();
            }
            let ticking = clock.tick();
            let mut store = Store::new(&engine, ());
            store.epoch_deadline_trap();
            store.set_epoch_deadline(3);
            let instance = Instance::new(&mut store, &module, &[]).unwrap();
            let spin = instance.get_typed_func::<(), ()>(&mut store, "spin");
            spin.unwrap().call(&mut store, ()).unwrap_err();
            // It goes on while the guest is there.
            assert!(!clock.shared.rests.load(SeqCst));
            drop(ticking);
        }
    }

    #[test]
    fn its_thread_ends_with_its_engines() {
        let engine = Engine::new(&Config::new()).unwrap();
        let clock = Clock::start(&engine).unwrap();
        drop(engine);
        while Arc::strong_count(&clock.shared) > 1 {
            thread::yield_now();
        }
    }
}

//! The clock of engines: it makes busy guests yield.
//!
//! Invariant: it ticks on a thread of its own, which a busy async worker can not hold up,
//! for as long as one of its engines lives, whoever holds that engine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How often a busy guest must yield, and the grain of deadlines inside guest code.
pub const TICK: Duration = Duration::from_millis(10);

/// Ticks for engines. Clones are the same clock.
#[derive(Clone)]
pub(super) struct Clock {
    engines: Arc<Mutex<Vec<EngineWeak>>>,
}

impl Clock {
    /// A clock that ticks for this engine.
    pub fn start(engine: &Engine) -> std::io::Result<Self> {
        let engines = Arc::new(Mutex::new(vec![engine.weak()]));
        let clock = Self {
            engines: Arc::clone(&engines),
        };
        thread::Builder::new()
            .name("prx-clock".into())
            .spawn(move || {
                while tick(&engines) {
                    thread::sleep(TICK);
                }
            })?;
        Ok(clock)
    }

    /// Ticks for another engine too. The first one must still live: a clock without
    /// engines has ended.
    pub fn add(&self, engine: &Engine) {
        lock(&self.engines).push(engine.weak());
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

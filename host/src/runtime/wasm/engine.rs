//! The engine of a host: its settings, and everything it links.
//!
//! Invariant: every module of a host is compiled under the same settings and linked by
//! the same linkers, so what a module may import is decided here and nowhere else. Where
//! instances get their memory changes nothing about compiled code: one cache serves all.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel};

use super::call_state::CallState;
use super::clock::{Clock, Ticking};
use super::{imports, pool};

/// Stack that a guest may use. Deeper recursion is a trap.
const GUEST_STACK_BYTES: usize = 1 << 20;
/// The stack of a call: the guest's, and room for host functions above it.
const CALL_STACK_BYTES: usize = 2 << 20;
/// Frames kept of a guest's backtrace.
const BACKTRACE_FRAMES: usize = 16;

/// How instances get their memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// Map memory for each call: nothing is made in advance, which suits a process that
    /// makes one call.
    OnDemand,
    /// From a pool of places where there is one, and where a module fits into it; see
    /// ARCHITECTURE.md for the comparison.
    #[default]
    Pooling,
}

/// A compiler and linker of modules.
pub struct Engine {
    wasmtime: wasmtime::Engine,
    clock: Clock,
    /// Each is made for the first module of its kind: not every process runs one, and to
    /// link HTTP takes half as long as all else together.
    linker: OnceLock<Result<Linker<CallState>, String>>,
    http_linker: OnceLock<Result<Linker<CallState>, String>>,
    core_linker: OnceLock<Result<wasmtime::Linker<CallState>, String>>,
    fingerprint: [u8; 32],
}

impl Engine {
    /// Makes the engine and its clock, whose thread ends with the engine. It ticks for guests
    /// of [`Host`](crate::Host) only.
    ///
    /// # Errors
    ///
    /// When this machine can not run compiled modules, or a thread can not be started.
    pub fn new(allocation: Allocation) -> wasmtime::Result<Self> {
        let wasmtime = wasmtime::Engine::new(&settings(allocation))?;
        let clock = Clock::start(&wasmtime)?;
        Ok(Self::with(wasmtime, clock))
    }

    /// An engine for the same code and by the same clock, whose instances live in a pool.
    ///
    /// # Errors
    ///
    /// When this machine does not give it the address space.
    pub(super) fn pooled(&self) -> wasmtime::Result<Self> {
        let wasmtime = wasmtime::Engine::new(&settings(Allocation::Pooling))?;
        self.clock.add(&wasmtime);
        Ok(Self::with(wasmtime, self.clock.clone()))
    }

    fn with(wasmtime: wasmtime::Engine, clock: Clock) -> Self {
        Self {
            fingerprint: fingerprint(&wasmtime),
            wasmtime,
            clock,
            linker: OnceLock::new(),
            http_linker: OnceLock::new(),
            core_linker: OnceLock::new(),
        }
    }

    /// The engine below.
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        &self.wasmtime
    }

    /// Identifies the engine's version and settings: code compiled under another
    /// fingerprint must not be loaded.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Makes a guest yield now and then, as long as the result is kept.
    pub(super) fn tick(&self) -> Ticking {
        self.clock.tick()
    }

    /// Compiles a component. Takes from milliseconds to minutes; never call it on an
    /// async worker.
    pub fn compile(&self, bytes: &[u8]) -> wasmtime::Result<Component> {
        Component::from_binary(&self.wasmtime, bytes)
    }

    /// Resolves a component's imports, once for all its calls.
    pub fn link(&self, component: &Component) -> wasmtime::Result<InstancePre<CallState>> {
        let wants_http = imports::wants_http(&self.wasmtime, component);
        let place = if wants_http {
            &self.http_linker
        } else {
            &self.linker
        };
        let linker = made(place, || {
            let mut linker = Linker::new(&self.wasmtime);
            imports::add_to_linker(&mut linker, wants_http).map(|()| linker)
        })?;
        linker.instantiate_pre(component)
    }

    /// Resolves a core module's imports, once for all its calls.
    pub fn link_core(
        &self,
        module: &wasmtime::Module,
    ) -> wasmtime::Result<wasmtime::InstancePre<CallState>> {
        self.core_linker()?.instantiate_pre(module)
    }

    /// What core modules may import.
    pub(super) fn core_linker(&self) -> wasmtime::Result<&wasmtime::Linker<CallState>> {
        made(&self.core_linker, || {
            let mut linker = wasmtime::Linker::new(&self.wasmtime);
            imports::preview1::add_to_linker(&mut linker).map(|()| linker)
        })
    }
}

/// What is made by its first use. An error is kept as text: it can not be told twice.
fn made<T>(
    place: &OnceLock<Result<T, String>>,
    make: impl FnOnce() -> wasmtime::Result<T>,
) -> wasmtime::Result<&T> {
    place
        .get_or_init(|| make().map_err(|error| format!("{error:#}")))
        .as_ref()
        .map_err(|error| wasmtime::format_err!("{error}"))
}

fn settings(allocation: Allocation) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(CALL_STACK_BYTES)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(BACKTRACE_FRAMES))
        .wasm_exceptions(true)
        .memory_init_cow(true)
        .parallel_compilation(true);
    if allocation == Allocation::Pooling {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool::settings()));
    }
    config
}

fn fingerprint(engine: &wasmtime::Engine) -> [u8; 32] {
    struct Feed(Sha256);
    impl std::hash::Hasher for Feed {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut feed = Feed(Sha256::new());
    std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut feed);
    feed.0.update(env!("CARGO_PKG_VERSION"));
    feed.0.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_the_same_wherever_instances_get_their_memory() {
        let on_demand = Engine::new(Allocation::OnDemand).unwrap();
        let pooled = on_demand.pooled().unwrap();
        assert_eq!(on_demand.fingerprint(), pooled.fingerprint());
        let empty_component = b"\0asm\x0d\0\x01\0";
        let code = on_demand.compile(empty_component).unwrap();
        let code = code.serialize().unwrap();
        // SAFETY: the bytes were serialised just now.
        let loaded = unsafe { Component::deserialize(pooled.wasmtime(), &code) };
        pooled.link(&loaded.unwrap()).unwrap();
    }
}

//! The one engine of a host: its settings, its clock, and everything it links.
//!
//! Invariant: every module of a host is compiled by the same [`Engine`] and linked by the
//! same linkers, so what a module may import is decided here and nowhere else.

use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use super::call_state::CallState;
use super::imports;

/// How often a busy guest must yield, and the grain of deadlines inside guest code.
pub const TICK: Duration = Duration::from_millis(10);

/// Stack that a guest may use. Deeper recursion is a trap.
const GUEST_STACK_BYTES: usize = 1 << 20;
/// The stack of a call: the guest's, and room for host functions above it.
const CALL_STACK_BYTES: usize = 2 << 20;
/// Frames kept of a guest's backtrace.
const BACKTRACE_FRAMES: usize = 16;

/// How instances get their memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// Map memory for each call: the default; see ARCHITECTURE.md for the comparison.
    #[default]
    OnDemand,
    /// Keep a pool of mapped slots.
    Pooling,
}

/// A compiler and linker of modules.
#[derive(Clone)]
pub struct Engine {
    wasmtime: wasmtime::Engine,
    linker: Linker<CallState>,
    core_linker: wasmtime::Linker<CallState>,
    fingerprint: [u8; 32],
}

impl Engine {
    /// Makes the engine and starts its clock, which stops when the engine is dropped.
    ///
    /// # Errors
    ///
    /// When this machine can not run compiled modules, or a thread can not be started.
    pub fn new(allocation: Allocation) -> wasmtime::Result<Self> {
        let wasmtime = wasmtime::Engine::new(&settings(allocation))?;
        start_clock(&wasmtime)?;
        let mut linker = Linker::new(&wasmtime);
        imports::add_to_linker(&mut linker)?;
        let mut core_linker = wasmtime::Linker::new(&wasmtime);
        imports::preview1::add_to_linker(&mut core_linker)?;
        let fingerprint = fingerprint(&wasmtime);
        Ok(Self {
            wasmtime,
            linker,
            core_linker,
            fingerprint,
        })
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

    /// Compiles a component. Takes from milliseconds to minutes; never call it on an
    /// async worker.
    pub fn compile(&self, bytes: &[u8]) -> wasmtime::Result<Component> {
        Component::from_binary(&self.wasmtime, bytes)
    }

    /// Resolves a component's imports, once for all its calls.
    pub fn link(&self, component: &Component) -> wasmtime::Result<InstancePre<CallState>> {
        self.linker.instantiate_pre(component)
    }

    /// Resolves a core module's imports, once for all its calls.
    pub fn link_core(
        &self,
        module: &wasmtime::Module,
    ) -> wasmtime::Result<wasmtime::InstancePre<CallState>> {
        self.core_linker.instantiate_pre(module)
    }

    /// What core modules may import.
    #[cfg(test)]
    pub(super) fn core_linker(&self) -> &wasmtime::Linker<CallState> {
        &self.core_linker
    }
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
        let mut pool = PoolingAllocationConfig::default();
        pool.total_component_instances(256)
            .total_core_instances(1024)
            .total_memories(512)
            .total_tables(1024)
            .total_stacks(256)
            .max_memory_size(4 << 30)
            .table_elements(100_000)
            .linear_memory_keep_resident(256 << 10)
            .async_stack_keep_resident(64 << 10);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

/// Runs the clock on a thread of its own: a busy async worker can not hold it up, and
/// nothing in its loop can fail.
fn start_clock(engine: &wasmtime::Engine) -> wasmtime::Result<()> {
    let engine = engine.weak();
    thread::Builder::new()
        .name("prx-clock".into())
        .spawn(move || {
            while let Some(engine) = engine.upgrade() {
                engine.increment_epoch();
                drop(engine);
                thread::sleep(TICK);
            }
        })?;
    Ok(())
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

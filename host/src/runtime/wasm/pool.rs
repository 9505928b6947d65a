//! Places in which calls run: memories, tables and stacks that are mapped once and used
//! again by call after call.
//!
//! Invariant: a call takes its place before it instantiates and holds it until its store
//! is gone, and each place has room for everything that one instance may hold. So the
//! engine's pool never runs out under a call: who finds no place waits for one, first
//! come, first served.
//!
//! The engine gives a slot back as it was: what a call wrote is zeroed or unmapped before
//! the next one sees it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::{Enabled, PoolingAllocationConfig};

use super::engine::Engine;
use super::limits::{MAX_INSTANCES, MAX_TABLE_ELEMENTS};

/// Calls that run at one time. More wait, which bounds what guests together can use:
/// with the default limit of 128 MiB for each, this many guests may hold 32 GiB.
pub const PLACES: u32 = 256;
/// Linear memories of one place. Most modules have one.
const MEMORIES: u32 = 4;
/// Tables of one place. Most modules have two or three.
const TABLES: u32 = 8;
/// Bytes of one memory: as many as 32-bit code can address. Only reserved.
const MEMORY_BYTES: usize = 4 << 30;
/// Bytes of bookkeeping for the instances of one place: a bound of sanity, no cost.
const INSTANCE_BYTES: usize = 64 << 20;
/// Bytes of a memory that stay mapped between two calls. Clearing what a call has
/// touched is cheaper than a page fault for each page. After a time of `PLACES` calls at
/// once, of modules with one memory each, idle memories hold 64 MiB at most.
const RESIDENT_MEMORY: usize = 256 << 10;
/// Bytes of a table that stay mapped between two calls; with three tables in each place
/// that is 12 MiB at most. (Stacks stay as they were used: 2 MiB each at most.)
const RESIDENT_TABLE: usize = 16 << 10;

/// The engine's settings for the pool.
pub(super) fn settings() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::default();
    let instances = u32::try_from(MAX_INSTANCES).unwrap_or(u32::MAX);
    pool.total_component_instances(PLACES)
        .total_core_instances(PLACES * instances)
        .total_stacks(PLACES)
        // Collected objects, exceptions among them, live in one more memory of a store.
        .total_memories(PLACES * (MEMORIES + 1))
        .total_gc_heaps(PLACES)
        .total_tables(PLACES * TABLES)
        .max_core_instances_per_component(instances)
        .max_memories_per_component(MEMORIES)
        .max_memories_per_module(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_memory_size(MEMORY_BYTES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .linear_memory_keep_resident(RESIDENT_MEMORY)
        .table_keep_resident(RESIDENT_TABLE)
        // Finds the pages that a call has touched; Linux has it since 6.7.
        .pagemap_scan(Enabled::Auto);
    pool
}

/// An engine whose instances live in places.
pub struct Pool {
    engine: Engine,
    places: Arc<Semaphore>,
}

/// Room for one call, given back when dropped.
pub struct Place(#[expect(dead_code, reason = "held for its end")] OwnedSemaphorePermit);

impl Pool {
    /// A pool that runs what `compiler` compiles. `None`, and a line in the log, where
    /// the machine does not give it the address space: calls then map memory one by one.
    pub fn open(compiler: &Engine) -> Option<Self> {
        match compiler.pooled() {
            Ok(engine) if engine.fingerprint() == compiler.fingerprint() => Some(Self {
                engine,
                places: Arc::new(Semaphore::new(PLACES as usize)),
            }),
            Ok(_) => {
                tracing::warn!("calls run without a pool: it would need code of its own");
                None
            }
            Err(error) => {
                tracing::warn!(
                    "calls run without a pool, which makes them slower: {error:#} (is there a limit of virtual memory, as `ulimit -v` sets?)"
                );
                None
            }
        }
    }

    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A place that is free at this moment, unless somebody waits for it.
    pub fn free_place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.places).try_acquire_owned();
        permit.ok().map(Place)
    }

    /// Places that are taken at this moment.
    pub fn taken(&self) -> u32 {
        let free = self.places.available_permits();
        PLACES.saturating_sub(u32::try_from(free).unwrap_or(PLACES))
    }

    /// The next free place, in the order of asking.
    pub async fn place(&self) -> Place {
        let permit = Arc::clone(&self.places).acquire_owned().await;
        Place(permit.expect("the semaphore is never closed"))
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, Rlimit, setrlimit};

    use super::*;
    use crate::runtime::wasm::child_process;
    use crate::runtime::wasm::engine::Allocation;

    #[test]
    fn without_address_space_there_is_no_pool_and_an_engine_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, _output) = child_process::start(module_path!(), folder.path(), "limit");
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }

    #[test]
    #[ignore = "a part of another test, in a process of its own"]
    fn a_child_process_does_its_task() {
        if child_process::task().is_none() {
            return;
        }
        let some = Some(64 << 30);
        let limit = Rlimit {
            current: some,
            maximum: some,
        };
        setrlimit(Resource::As, limit).unwrap();
        let engine = Engine::new(Allocation::OnDemand).unwrap();
        assert!(Pool::open(&engine).is_none());
        engine.compile(b"\0asm\x0d\0\x01\0").unwrap();
        child_process::is_ready();
    }

    #[tokio::test]
    async fn places_are_given_back_and_whoever_waits_comes_first() {
        let pool = Pool::open(&Engine::new(Allocation::OnDemand).unwrap()).unwrap();
        let mut taken: Vec<_> = (0..PLACES).map(|_| pool.free_place().unwrap()).collect();
        assert!(pool.free_place().is_none());
        let mut waiting = Box::pin(pool.place());
        assert!(futures::poll!(&mut waiting).is_pending());
        taken.pop();
        assert!(pool.free_place().is_none());
        let place = waiting.await;
        drop(place);
        assert!(pool.free_place().is_some());
    }
}

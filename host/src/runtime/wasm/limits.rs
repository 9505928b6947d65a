//! What one call may use of the machine, and the memory of what was refused.
//!
//! Invariant: a refusal is remembered, so that the caller hears "memory limit" where the
//! guest only saw a failed allocation and trapped.

use wasmtime::ResourceLimiter;

/// Elements of all tables of a call together.
pub const MAX_TABLE_ELEMENTS: usize = 200_000;
/// Instances of a composed component.
pub const MAX_INSTANCES: usize = 256;
/// Tables of all instances.
pub const MAX_TABLES: usize = 256;
/// Linear memories of all instances.
pub const MAX_MEMORIES: usize = 64;
/// Handles that a guest may hold: open files, streams, sockets, pollables.
pub const MAX_HANDLES: usize = 512;

/// What a guest was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Bytes of linear memory.
    Memory,
    /// Elements of tables.
    TableElements,
}

/// Counts what a call uses.
#[derive(Debug)]
pub struct Limiter {
    max_memory: usize,
    memory: usize,
    table_elements: usize,
    refused: Option<Refusal>,
}

impl Limiter {
    /// Limits the sum of all linear memories to `max_memory` bytes.
    pub fn new(max_memory: u64) -> Self {
        Self {
            max_memory: usize::try_from(max_memory).unwrap_or(usize::MAX),
            memory: 0,
            table_elements: 0,
            refused: None,
        }
    }

    /// The first thing that was refused.
    pub fn refused(&self) -> Option<Refusal> {
        self.refused
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Several memories share one limit: what counts is the sum.
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.max_memory {
            self.refused.get_or_insert(Refusal::Memory);
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        if total > MAX_TABLE_ELEMENTS {
            self.refused.get_or_insert(Refusal::TableElements);
            return Ok(false);
        }
        self.table_elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_TABLES
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES
    }
}

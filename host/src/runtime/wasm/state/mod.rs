//! The durable key-value store behind `prx:skill/state`, one database file per tool entry.
//!
//! Owns the files under `runtime.wasm.state_path`. Knows nothing of wasmtime or of
//! grants: the caller passes the quota with every operation, 0 being no grant.
//! Invariant: a change is on the disk, or not made at all, when its function returns.
//!
//! * **One file per namespace.** A flood of writes of one skill never waits for, or
//!   holds up, another skill, and a skill's state is removed by removing its file
//!   (with its `-wal`, `-shm` and `-queue` neighbours, best while no host uses it).
//! * **Several processes** use a file at once: every MCP client over stdio starts a
//!   host of its own. `SQLite`'s locks order them. Writes begin with `BEGIN IMMEDIATE`,
//!   so that a read-modify-write is one step and no lock is upgraded halfway.
//! * **Durable means `synchronous = FULL`.** In WAL mode `NORMAL` keeps the file
//!   intact after a power cut but syncs the log only at checkpoints, so changes that
//!   were already acknowledged may be gone. `FULL` syncs the log at every commit. A
//!   write therefore costs one sync of the disk; a read costs none.
//! * **Blocking.** Every operation may wait for a disk or, for a few seconds, for
//!   another process: call it where blocking is allowed.

mod connections;
mod database;
mod error;
mod file_name;
mod namespace;
mod queue;
mod rows;
mod store;
#[cfg(test)]
mod tests;

pub use error::StateError;
pub use namespace::Namespace;
pub use store::StateStore;

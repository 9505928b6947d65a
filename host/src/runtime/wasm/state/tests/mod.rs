//! Tests of the store as a whole: what it promises to a skill, to other processes, and
//! when its files are not as they should be.

mod faults;
mod files;
mod model;
mod operations;
mod processes;

use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{Namespace, StateStore};

/// A quota that no test reaches by accident.
const AMPLE: u64 = 1 << 20;

/// A namespace in a folder that vanishes with the test.
fn fresh_namespace() -> (TempDir, Arc<Namespace>) {
    let folder = tempfile::tempdir().unwrap();
    let namespace = StateStore::new(folder.path().join("state"))
        .namespace("notes")
        .unwrap();
    (folder, namespace)
}

/// The total counted row by row, by a connection of its own.
fn scanned_total(namespace: &Namespace) -> u64 {
    let connection = Connection::open(namespace.path()).unwrap();
    let total: i64 = connection
        .query_row(
            "SELECT coalesce(sum(length(key) + length(value)), 0) FROM entry",
            [],
            |row| row.get(0),
        )
        .unwrap();
    total.unsigned_abs()
}

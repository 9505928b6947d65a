//! The operations of `prx:skill/state` on one namespace. Invariant: each is one
//! transaction, and one that fails leaves everything as it was.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use rusqlite::{Transaction, TransactionBehavior};

use super::connections::Connections;
use super::error::{Fault, StateError};
use super::rows;

/// The longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 512;

/// The most keys that one [`Namespace::keys`] answers.
pub const MAX_KEYS_LISTED: u32 = 1000;

/// The size of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all keys and values.
    pub used: u64,
    /// Bytes that they may be at most.
    pub quota: u64,
}

/// The state of one tool entry.
///
/// `quota` is the number of bytes that the operator grants, counting keys and values; 0
/// makes every operation answer [`StateError::Denied`]. If the operator lowers the quota
/// below what is stored, nothing is lost: reading, removing and shrinking still work.
#[derive(Debug)]
pub struct Namespace {
    connections: Connections,
}

impl Namespace {
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            connections: Connections::to(path),
        }
    }

    /// The database file.
    #[cfg(test)]
    pub fn path(&self) -> &Path {
        self.connections.path()
    }

    /// The value of a key, or none.
    pub fn get(&self, key: &str, quota: u64) -> Result<Option<Vec<u8>>, StateError> {
        check(Some(key), quota)?;
        self.connections
            .with(|open| Ok(rows::value(&open.connection, key)?))
    }

    /// Sets the value of a key, whether it existed or not.
    pub fn set(&self, key: &str, value: &[u8], quota: u64) -> Result<(), StateError> {
        check(Some(key), quota)?;
        self.write(|transaction| rows::put(transaction, key, value, quota))
    }

    /// Removes a key. Answers whether it existed.
    pub fn delete(&self, key: &str, quota: u64) -> Result<bool, StateError> {
        check(Some(key), quota)?;
        self.write(|transaction| Ok(rows::remove(transaction, key)?))
    }

    /// Adds `delta` to a decimal integer stored as text, a missing key counting as 0, and
    /// answers the sum, which is stored without leading zeros or `+`.
    pub fn increment(&self, key: &str, delta: i64, quota: u64) -> Result<i64, StateError> {
        check(Some(key), quota)?;
        self.write(|transaction| {
            let sum = match rows::value(transaction, key)? {
                None => Some(delta),
                Some(value) => as_integer(&value).and_then(|value| value.checked_add(delta)),
            };
            let sum = sum.ok_or(Fault::Refused(StateError::NotANumber))?;
            rows::put(transaction, key, sum.to_string().as_bytes(), quota)?;
            Ok(sum)
        })
    }

    /// Replaces the value of a key if it is `expected` at that moment (none: the key is
    /// absent; a new value of none removes it). Answers whether it did.
    pub fn compare_and_set(
        &self,
        key: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
        quota: u64,
    ) -> Result<bool, StateError> {
        check(Some(key), quota)?;
        self.write(|transaction| {
            if rows::value(transaction, key)?.as_deref() != expected {
                return Ok(false);
            }
            match value {
                Some(value) => rows::put(transaction, key, value, quota)?,
                None => drop(rows::remove(transaction, key)?),
            }
            Ok(true)
        })
    }

    /// Up to `limit` keys (at most [`MAX_KEYS_LISTED`]) that begin with `prefix` and come
    /// after `after` in byte order.
    pub fn keys(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: u32,
        quota: u64,
    ) -> Result<Vec<String>, StateError> {
        check(None, quota)?;
        let limit = limit.min(MAX_KEYS_LISTED);
        self.connections
            .with(|open| Ok(rows::keys(&open.connection, prefix, after, limit)?))
    }

    /// How full the store is.
    pub fn usage(&self, quota: u64) -> Result<Usage, StateError> {
        check(None, quota)?;
        let used = self
            .connections
            .with(|open| Ok(rows::used(&open.connection)?))?;
        Ok(Usage { used, quota })
    }

    /// Runs `work` as one transaction that has the write lock from its beginning.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StateError> {
        self.connections.with(|open| {
            let turn = open.queue.wait()?;
            let begin = TransactionBehavior::Immediate;
            let transaction = open.connection.transaction_with_behavior(begin)?;
            drop(turn);
            // An error drops the transaction, which rolls it back.
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        })
    }

    #[cfg(test)]
    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }
}

/// The grant comes first: a skill without state learns nothing else.
fn check(key: Option<&str>, quota: u64) -> Result<(), StateError> {
    if quota == 0 {
        return Err(StateError::Denied);
    }
    match key {
        Some(key) if key.is_empty() || key.len() > MAX_KEY_BYTES => Err(StateError::InvalidKey),
        _ => Ok(()),
    }
}

fn as_integer(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

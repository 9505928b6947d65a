//! The statements on the two tables of a namespace. Invariant: `total.used` is the sum of
//! the lengths of all keys and values whenever a transaction ends.

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{Fault, StateError};

/// The value of a key.
pub(super) fn value(connection: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT value FROM entry WHERE key = ?1")?
        .query_row([key.as_bytes()], |row| row.get(0))
        .optional()
}

/// Bytes of all keys and values.
pub(super) fn used(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT used FROM total WHERE only = 0")?
        .query_row([], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
}

/// Sets a key, unless it makes the store grow past `quota`. In a write transaction only.
pub(super) fn put(
    connection: &Connection,
    key: &str,
    value: &[u8],
    quota: u64,
) -> Result<(), Fault> {
    let old = size(connection, key)?.unwrap_or(0);
    let new = (key.len() + value.len()) as u64;
    let after = used(connection)?.saturating_sub(old) + new;
    if after > quota && new > old {
        return Err(Fault::Refused(StateError::QuotaExceeded(after - quota)));
    }
    connection
        .prepare_cached(
            "INSERT INTO entry (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute(params![key.as_bytes(), value])?;
    set_used(connection, after)?;
    Ok(())
}

/// Removes a key and answers whether it existed. In a write transaction only.
pub(super) fn remove(connection: &Connection, key: &str) -> rusqlite::Result<bool> {
    let Some(old) = size(connection, key)? else {
        return Ok(false);
    };
    connection
        .prepare_cached("DELETE FROM entry WHERE key = ?1")?
        .execute([key.as_bytes()])?;
    set_used(connection, used(connection)?.saturating_sub(old))?;
    Ok(true)
}

/// Keys that begin with `prefix` and come after `after`, in byte order.
pub(super) fn keys(
    connection: &Connection,
    prefix: &str,
    after: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<String>> {
    // One lower bound, so that the index is entered where the answer begins.
    let (query, from) = match after {
        Some(after) if after >= prefix => (
            "SELECT key FROM entry WHERE key > ?1 AND key < ?2 ORDER BY key LIMIT ?3",
            after,
        ),
        _ => (
            "SELECT key FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
            prefix,
        ),
    };
    connection
        .prepare_cached(query)?
        .query_map(
            params![from.as_bytes(), end_of_prefix(prefix), limit],
            |row| {
                let key: Vec<u8> = row.get(0)?;
                // Only `&str` are ever stored; anything else is damage.
                String::from_utf8(key).map_err(|error| {
                    rusqlite::Error::FromSqlConversionFailure(
                        0,
                        rusqlite::types::Type::Blob,
                        Box::new(error),
                    )
                })
            },
        )?
        .collect()
}

/// The first bytes after all that begin with `prefix`. The last byte of UTF-8 is never
/// 255, so it can always be raised by one; no text begins with 255.
fn end_of_prefix(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    match end.last_mut() {
        Some(last) => *last += 1,
        None => end.push(255),
    }
    end
}

/// Bytes of a key and its value together.
fn size(connection: &Connection, key: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT length(key) + length(value) FROM entry WHERE key = ?1")?
        .query_row([key.as_bytes()], |row| {
            row.get::<_, i64>(0).map(i64::unsigned_abs)
        })
        .optional()
}

fn set_used(connection: &Connection, used: u64) -> rusqlite::Result<()> {
    // A file is far smaller than 2^63 bytes.
    let used = i64::try_from(used).unwrap_or(i64::MAX);
    connection
        .prepare_cached("UPDATE total SET used = ?1 WHERE only = 0")?
        .execute([used])?;
    Ok(())
}

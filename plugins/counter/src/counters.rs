//! Named counters in the skill's state. Invariant: no count is lost, however many calls in
//! however many hosts count at once, since every change is one atomic operation.

use prx_skill::prelude::*;
use prx_skill::serde_json::json;
use prx_skill::state;

/// Longest name in bytes; with the prefix it stays within the 512 bytes of a key.
const MAX_NAME_BYTES: usize = 200;
/// Before each name, so that the skill can keep other things beside the counters.
const PREFIX: &str = "counter/";

/// A counter and its value.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// A counter that was set back.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// Its name.
    pub name: String,
    /// Its value until then; 0 if it did not exist.
    pub was: i64,
}

/// A part of the counters, by name.
#[data(output)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// The counters, by name.
    pub counters: Vec<Counter>,
    /// Give this as `after` to get the next ones; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Bytes that the state takes.
    pub used_bytes: u64,
    /// Bytes that it may take.
    pub quota_bytes: u64,
}

/// Adds `by` to a counter, which begins at 0.
pub fn increment(name: &str, by: i64) -> Result<Counter, ToolError> {
    let key = key(name)?;
    let value = state::increment(&key, by).map_err(|error| match error {
        state::Error::NotANumber => ToolError::conflict(format!(
            "adding {by} would take the counter `{name}` out of the range of 64-bit integers: \
             reset it first"
        )),
        state::Error::QuotaExceeded(missing) => full(name, missing),
        other => other.into(),
    })?;
    Ok(Counter {
        name: name.to_owned(),
        value,
    })
}

/// The value of a counter that exists.
pub fn get(name: &str) -> Result<Counter, ToolError> {
    let stored = state::get(&key(name)?)?;
    match value_of(name, stored.as_deref())? {
        Some(value) => Ok(Counter {
            name: name.to_owned(),
            value,
        }),
        None => Err(ToolError::not_found(format!(
            "there is no counter `{name}` yet: the tool `increment` makes it, `list` names those that exist"
        ))),
    }
}

/// Sets a counter back to 0 and frees its place; if `expected` is given, only from there.
pub fn reset(name: &str, expected: Option<i64>) -> Result<Reset, ToolError> {
    let key = key(name)?;
    loop {
        let stored = state::get(&key)?;
        let value = value_of(name, stored.as_deref())?;
        let was = value.unwrap_or(0);
        if expected.is_some_and(|expected| expected != was) {
            return Err(ToolError::conflict(format!(
                "the counter `{name}` is at {was} and not at the expected value: decide anew"
            ))
            .with_data(json!({ "name": name, "value": was })));
        }
        // Another call may have counted since `get`. Then nothing is removed here, and the
        // loop looks again: so the value that is answered is exactly what was taken away.
        if value.is_none() || state::compare_and_set(&key, stored.as_deref(), None)? {
            return Ok(Reset {
                name: name.to_owned(),
                was,
            });
        }
    }
}

/// Up to `limit` counters whose names begin with `prefix` and come after `after`.
pub fn list(prefix: &str, after: Option<&str>, limit: u32) -> Result<Counters, ToolError> {
    let after = after.map(|name| format!("{PREFIX}{name}"));
    let keys = state::keys(&format!("{PREFIX}{prefix}"), after.as_deref(), limit)?;
    let is_page_full = keys.len() == limit as usize;
    let mut counters = Vec::with_capacity(keys.len());
    let mut last = None;
    for key in keys {
        let name = key.strip_prefix(PREFIX).unwrap_or(&key).to_owned();
        // A counter may be reset between the two questions.
        if let Some(value) = value_of(&name, state::get(&key)?.as_deref())? {
            counters.push(Counter {
                name: name.clone(),
                value,
            });
        }
        last = Some(name);
    }
    let usage = state::usage()?;
    Ok(Counters {
        counters,
        next: last.filter(|_| is_page_full),
        used_bytes: usage.used,
        quota_bytes: usage.quota,
    })
}

fn key(name: &str) -> Result<String, ToolError> {
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(ToolError::invalid_arguments(format!(
            "`name` must be one line of 1 to {MAX_NAME_BYTES} bytes, for instance `coffee`"
        )));
    }
    Ok(format!("{PREFIX}{name}"))
}

fn value_of(name: &str, stored: Option<&[u8]>) -> Result<Option<i64>, ToolError> {
    let Some(stored) = stored else {
        return Ok(None);
    };
    let number = std::str::from_utf8(stored)
        .ok()
        .and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| {
        ToolError::failed(format!(
            "the state of the counter `{name}` is damaged: it is no number"
        ))
    })
}

fn full(name: &str, missing: u64) -> ToolError {
    let error = ToolError::denied(format!(
        "there is no room for the counter `{name}`: {missing} bytes more are needed. Reset \
         counters that are no longer needed, or ask the operator to raise `max_state_kb` in \
         `[tools.custom.<name>.capabilities]`"
    ));
    match state::usage() {
        Ok(usage) => error.with_data(json!({
            "missing_bytes": missing,
            "used_bytes": usage.used,
            "quota_bytes": usage.quota,
        })),
        Err(_) => error,
    }
}

//! A small store of keys and values that outlives calls, reloads and the host.
//!
//! ```
//! use prx_skill::prelude::*;
//!
//! /// Count how often this was called.
//! #[tool(state("to remember the count"))]
//! fn visits() -> Result<String, ToolError> {
//!     Ok(format!("call number {}", state::increment("visits", 1)?))
//! }
//! # assert_eq!(visits().unwrap(), "call number 1");
//! ```
//!
//! Each tool entry of the configuration has a store of its own. A change is durable when
//! its function returns. Several calls, in several hosts, may use the same store at
//! once: each function is atomic by itself, and [`increment`], [`compare_and_set`] and
//! [`update`] read and write without losing what another call wrote in between.
//!
//! Keys are 1 to 512 bytes of UTF-8. The operator sets a quota in bytes
//! (`max_state_kb`); without one every function answers [`Error::Denied`].

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ErrorKind;
use crate::host;

/// Why an operation did not happen. The store is then as it was before.
///
/// `?` turns it into a [`ToolError`](crate::ToolError) of a fitting kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The operator granted no state to this skill.
    Denied,
    /// The key is empty or longer than 512 bytes.
    InvalidKey,
    /// The change would need this many bytes more than the quota allows.
    QuotaExceeded(u64),
    /// [`increment`] found a value that is not a decimal 64-bit integer, or the sum
    /// does not fit into one.
    NotANumber,
    /// The store can not be used now; the text says why.
    Unavailable(String),
    /// A value is not what the function reads: not UTF-8, or not this JSON. Never
    /// comes from the host.
    Unreadable {
        /// The key of the value.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Error {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Denied | Self::QuotaExceeded(_) => ErrorKind::Denied,
            Self::Unavailable(_) => ErrorKind::Unavailable,
            Self::InvalidKey | Self::NotANumber | Self::Unreadable { .. } => ErrorKind::Failed,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied => f.write_str(
                "this tool may not keep state; the operator can grant it with `max_state_kb` in \
                 `[tools.custom.<name>.capabilities]`",
            ),
            Self::InvalidKey => f.write_str("a key of the state must have 1 to 512 bytes"),
            Self::QuotaExceeded(missing) => write!(
                f,
                "the state is full: {missing} bytes more are needed; the operator can raise \
                 `max_state_kb` in `[tools.custom.<name>.capabilities]`",
            ),
            Self::NotANumber => {
                f.write_str("the state's value is not a 64-bit integer, or would leave its range")
            }
            Self::Unavailable(reason) => write!(f, "the state can not be used now: {reason}"),
            Self::Unreadable { key, reason } => {
                write!(f, "the state's value of `{key}` can not be read: {reason}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// How full the store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all keys and values.
    pub used: u64,
    /// Bytes that they may be at most.
    pub quota: u64,
}

/// The value of a key, or none.
///
/// # Errors
///
/// As every function here: [`Error::Denied`], [`Error::InvalidKey`],
/// [`Error::Unavailable`].
pub fn get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    host::state_get(key)
}

/// The value of a key as text, or none.
///
/// # Errors
///
/// [`Error::Unreadable`] when it is not UTF-8.
pub fn get_text(key: &str) -> Result<Option<String>, Error> {
    get(key)?
        .map(|value| String::from_utf8(value).map_err(|error| unreadable(key, &error)))
        .transpose()
}

/// The value of a key as JSON, or none.
///
/// # Errors
///
/// [`Error::Unreadable`] when it is not the JSON of a `T`.
pub fn get_json<T: DeserializeOwned>(key: &str) -> Result<Option<T>, Error> {
    get(key)?.map(|value| from_json(key, &value)).transpose()
}

/// Sets the value of a key, whether it existed or not.
///
/// # Errors
///
/// [`Error::QuotaExceeded`] when there is no room.
pub fn set(key: &str, value: impl AsRef<[u8]>) -> Result<(), Error> {
    host::state_set(key, value.as_ref())
}

/// Sets the value of a key to the JSON of `value`.
///
/// # Errors
///
/// [`Error::QuotaExceeded`] when there is no room; [`Error::Unreadable`] when `value`
/// has no JSON form.
pub fn set_json(key: &str, value: &impl Serialize) -> Result<(), Error> {
    set(key, to_json(key, value)?)
}

/// Removes a key. Answers whether it existed.
///
/// # Errors
///
/// None of its own.
pub fn delete(key: &str) -> Result<bool, Error> {
    host::state_delete(key)
}

/// Adds `delta` to a decimal integer stored as text, a missing key counting as 0, and
/// answers the sum.
///
/// # Errors
///
/// [`Error::NotANumber`], [`Error::QuotaExceeded`].
pub fn increment(key: &str, delta: i64) -> Result<i64, Error> {
    host::state_increment(key, delta)
}

/// Replaces the value of a key if it is `expected` at that moment (none: the key is
/// absent; a new value of none removes it). Answers whether it did.
///
/// # Errors
///
/// [`Error::QuotaExceeded`] when there is no room.
pub fn compare_and_set(
    key: &str,
    expected: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<bool, Error> {
    host::state_compare_and_set(key, expected, value)
}

/// Changes a JSON value without losing what other calls write meanwhile: reads it, calls
/// `change`, and writes if nobody wrote in between; else begins anew. Answers the value
/// that was written.
///
/// ```
/// use prx_skill::prelude::*;
///
/// let tags = state::update("tags", |tags: Option<Vec<String>>| {
///     let mut tags = tags.unwrap_or_default();
///     tags.push("new".into());
///     tags
/// })?;
/// assert_eq!(tags, ["new"]);
/// # Ok::<(), ToolError>(())
/// ```
///
/// # Errors
///
/// [`Error::QuotaExceeded`] when there is no room; [`Error::Unreadable`] when the value
/// is not the JSON of a `T`.
pub fn update<T, F>(key: &str, mut change: F) -> Result<T, Error>
where
    T: Serialize + DeserializeOwned,
    F: FnMut(Option<T>) -> T,
{
    loop {
        let old = get(key)?;
        let new = change(
            old.as_deref()
                .map(|value| from_json(key, value))
                .transpose()?,
        );
        let json = to_json(key, &new)?;
        if compare_and_set(key, old.as_deref(), Some(&json))? {
            return Ok(new);
        }
    }
}

/// Up to `limit` keys (at most 1,000) that begin with `prefix` and come after `after` in
/// byte order.
///
/// # Errors
///
/// None of its own.
pub fn keys(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<String>, Error> {
    host::state_keys(prefix, after, limit)
}

/// Every key that begins with `prefix`, in byte order. Reads page by page: keys that
/// other calls add or remove meanwhile may or may not be among them.
///
/// # Errors
///
/// None of its own.
pub fn all_keys(prefix: &str) -> Result<Vec<String>, Error> {
    const PAGE: u32 = 1000;
    let mut all: Vec<String> = Vec::new();
    loop {
        let page = keys(prefix, all.last().map(String::as_str), PAGE)?;
        let is_last = page.len() < PAGE as usize;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// How full the store is.
///
/// # Errors
///
/// None of its own.
pub fn usage() -> Result<Usage, Error> {
    host::state_usage()
}

fn unreadable(key: &str, error: &dyn std::error::Error) -> Error {
    Error::Unreadable {
        key: key.to_owned(),
        reason: error.to_string(),
    }
}

fn from_json<T: DeserializeOwned>(key: &str, value: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(value).map_err(|error| unreadable(key, &error))
}

fn to_json(key: &str, value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| unreadable(key, &error))
}

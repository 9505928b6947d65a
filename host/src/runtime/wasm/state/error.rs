//! Why an operation on state did not happen: the `error` variant of `prx:skill/state`,
//! and the sentences that say what is wrong with a file and what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::model::Shown as _;

use super::database::BUSY_LIMIT;

/// Why an operation did not happen. The store is then as it was before.
///
/// Mirrors `error` of `prx:skill/state` case by case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The operator granted no state: the quota is 0.
    #[error("no state is granted to this skill; grant some with `max_state_kb`")]
    Denied,
    /// The key is empty or longer than 512 bytes.
    #[error("a key of state must have 1 to 512 bytes")]
    InvalidKey,
    /// The change would need this many bytes more than the quota allows.
    #[error("state is full: {0} bytes are missing; remove keys or raise `max_state_kb`")]
    QuotaExceeded(u64),
    /// `increment` found a value that is not a decimal 64-bit integer, or the sum does
    /// not fit into one.
    #[error("the value, or the sum, is not a decimal 64-bit integer")]
    NotANumber,
    /// The store can not be used now; the text names the file, the reason and the remedy.
    #[error("{0}")]
    Unavailable(String),
}

impl StateError {
    /// `Unavailable` for a file, with a reason and, after `;`, what to do.
    pub(super) fn unavailable(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Unavailable(format!(
            "state in `{}` can not be used: {reason}",
            path.shown()
        ))
    }
}

/// What ended an operation inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    /// The database failed.
    Database(rusqlite::Error),
    /// Other writers did not let go in time.
    Busy,
    /// The operation was refused by our own rules; the connection is sound.
    Refused(StateError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl Fault {
    /// Whether another process may be done with what it holds in a moment.
    pub(super) fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Database(error) if matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::DatabaseBusy
                        | ErrorCode::DatabaseLocked
                        | ErrorCode::FileLockingProtocolFailed
                )
            )
        )
    }

    /// The error that the skill gets.
    pub(super) fn into_error(self, path: &Path) -> StateError {
        match self {
            Self::Refused(error) => error,
            Self::Busy => StateError::unavailable(path, busy()),
            Self::Database(error) => StateError::unavailable(path, reason(&error)),
        }
    }
}

fn busy() -> String {
    format!(
        "others kept it locked for {} s; call again",
        BUSY_LIMIT.as_secs()
    )
}

fn reason(error: &rusqlite::Error) -> String {
    let Some(code) = error.sqlite_error_code() else {
        return error.to_string();
    };
    match code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => busy(),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => format!(
            "the file is damaged ({error}) and was left as it is; put back a good copy, \
             or move the file away to start with empty state"
        ),
        ErrorCode::ReadOnly => format!("it is read-only ({error}); make file and folder writable"),
        ErrorCode::DiskFull => format!("the disk is full ({error}); make room"),
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            format!("{error}; check that file and folder are this user's and writable")
        }
        _ => error.to_string(),
    }
}

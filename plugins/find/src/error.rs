//! Why a search did not happen, in words that let a model repair its call.

use std::io;

use thiserror::Error;

/// Why a search did not happen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FindError {
    /// The folder of the grant can not be opened.
    #[error(
        "the folder `{folder}` can not be read ({why}): the operator grants it with \
         `filesystem_read = [\"./docs::{folder}\"]` in `[tools.custom.<name>.capabilities]`"
    )]
    NotGranted {
        /// The folder.
        folder: String,
        /// What the system said.
        why: String,
    },
    /// A path leads out of the granted folder.
    #[error(
        "`{path}` leads out of the searched folder: give a path below it, such as `guide/setup.md`"
    )]
    Outside {
        /// The path.
        path: String,
    },
    /// A path does not exist.
    #[error("there is no `{path}` in the searched folder: leave `path` out to search everything")]
    NotFound {
        /// The path.
        path: String,
    },
    /// A path exists and can not be read.
    #[error("`{path}` can not be read: {why}")]
    Unreadable {
        /// The path.
        path: String,
        /// What sort of failure it is.
        kind: io::ErrorKind,
        /// What the system said.
        why: String,
    },
    /// A glob is malformed.
    #[error("`{glob}` is no file name pattern: {why}")]
    BadGlob {
        /// The pattern.
        glob: String,
        /// What is wrong with it.
        why: String,
    },
    /// A regular expression is malformed.
    #[error(
        "`{expression}` is no regular expression: {why}; leave `regex` out to search for these \
         very characters"
    )]
    BadExpression {
        /// The expression.
        expression: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing to search for.
    #[error("`query` is empty: say what to search for")]
    EmptyQuery,
}

//! Why a call did not succeed: [`ToolError`], and how ordinary errors become one.
//!
//! `ToolError` does not implement [`std::error::Error`] itself; that is what allows
//! `?` to convert every type that does.

use std::error::Error;
use std::fmt;
use std::io;

use serde::Serialize;

/// Why a call did not succeed, for a caller that wants to do better next time.
///
/// The message is read by a model: one or two sentences that say what is wrong and
/// what would be right. `?` turns every ordinary error into a `ToolError`:
///
/// ```
/// use prx_skill::prelude::*;
///
/// fn half(text: &str) -> Result<u32, ToolError> {
///     let number: u32 = text.parse()?;
///     if number % 2 == 1 {
///         return Err(ToolError::invalid_arguments(format!("{number} is odd")));
///     }
///     Ok(number / 2)
/// }
/// assert_eq!(half("7").unwrap_err().kind(), ErrorKind::InvalidArguments);
/// assert_eq!(half("x").unwrap_err().message(), "invalid digit found in string");
/// ```
///
/// The kind of a converted error is [`ErrorKind::Failed`], except for
/// [`std::io::Error`] (not found, permission denied and already exists have kinds of
/// their own) and [`state::Error`](crate::state::Error), also when they are the
/// [source](Error::source) of another error. The message is the error's and, after
/// colons, those of its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    data: Option<String>,
}

/// What sort of failure it was; decides what a caller tries next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The arguments fit the schema but not the tool; others may succeed.
    InvalidArguments,
    /// The tool lacks a permission that an operator could grant.
    Denied,
    /// What the arguments name does not exist.
    NotFound,
    /// The thing exists already or was changed meanwhile.
    Conflict,
    /// Something that the tool depends on does not answer now; later may succeed.
    Unavailable,
    /// Anything else.
    Failed,
}

impl ErrorKind {
    /// As the WIT package and the Rust host write it, for instance `not-found`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::Denied => "denied",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
        }
    }
}

impl ToolError {
    /// An error of a kind that is known only at run time.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            data: None,
        }
    }

    /// The arguments fit the schema but not the tool.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArguments, message)
    }

    /// The tool lacks a permission that an operator could grant.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Denied, message)
    }

    /// What the arguments name does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// The thing exists already or was changed meanwhile.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Something that the tool depends on does not answer now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Anything else.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Adds details for programs. A value that has no JSON form (a map whose keys are
    /// not text) is left out: an error about an error would help nobody.
    #[must_use]
    pub fn with_data(mut self, data: impl Serialize) -> Self {
        self.data = serde_json::to_string(&data).ok();
        self
    }

    /// Says what was being done: the message becomes `<doing>: <message>`.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }

    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What a caller reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Details for programs, as JSON text.
    pub fn data(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// Reads kind and message off any error and its sources.
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut kind = kind_of(error);
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Many errors repeat their source in their own text.
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            kind = kind.or_else(|| kind_of(cause));
            source = cause.source();
        }
        Self::new(kind.unwrap_or(ErrorKind::Failed), message)
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn into_parts(self) -> (ErrorKind, String, Option<String>) {
        (self.kind, self.message, self.data)
    }
}

fn kind_of(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return match error.kind() {
            io::ErrorKind::NotFound => Some(ErrorKind::NotFound),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Some(ErrorKind::Denied)
            }
            io::ErrorKind::AlreadyExists => Some(ErrorKind::Conflict),
            // The standard library's words for a path outside of every granted folder.
            _ if error.to_string().contains("pre-opened file descriptor") => {
                Some(ErrorKind::Denied)
            }
            _ => None,
        };
    }
    error
        .downcast_ref::<crate::state::Error>()
        .map(crate::state::Error::kind)
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Error + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_error(&error)
    }
}

/// Says what was being done when something failed.
///
/// ```
/// use prx_skill::prelude::*;
///
/// fn read(path: &str) -> Result<String, ToolError> {
///     std::fs::read_to_string(path).context(format_args!("can not read `{path}`"))
/// }
/// let error = read("/no/such/file").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NotFound);
/// assert!(error.message().starts_with("can not read `/no/such/file`: "));
/// ```
pub trait Context<T> {
    /// The same result; the message of an error becomes `<doing>: <message>`.
    fn context(self, doing: impl fmt::Display) -> Result<T, ToolError>;
}

impl<T, E: Into<ToolError>> Context<T> for Result<T, E> {
    fn context(self, doing: impl fmt::Display) -> Result<T, ToolError> {
        self.map_err(|error| error.into().context(doing))
    }
}

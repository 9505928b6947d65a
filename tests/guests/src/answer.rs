//! Short ways to say the answers that guests give most.

use serde_json::{Value, json};

use crate::tools::{Content, Error, ErrorKind, Output};

/// What a call gives back.
pub type Answer = Result<Output, Error>;

/// One piece of text.
#[allow(
    clippy::missing_errors_doc,
    reason = "always `Ok`; the type is a closure's"
)]
pub fn text(text: impl Into<String>) -> Answer {
    Ok(Output {
        contents: vec![Content::Text(text.into())],
        structured: None,
    })
}

/// One JSON object, also as text.
#[allow(
    clippy::needless_pass_by_value,
    reason = "called with `json!` literals"
)]
pub fn structured(value: Value) -> Answer {
    let json = value.to_string();
    Ok(Output {
        contents: vec![Content::Text(json.clone())],
        structured: Some(json),
    })
}

/// An error of that kind, without details.
pub fn fail(kind: ErrorKind, message: impl Into<String>) -> Error {
    Error {
        kind,
        message: message.into(),
        data: None,
    }
}

/// An error of the operating system, with its number in `data.errno`.
#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub fn from_io(error: std::io::Error) -> Error {
    use std::io::ErrorKind as Io;
    let kind = match error.kind() {
        Io::NotFound => ErrorKind::NotFound,
        Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Denied,
        Io::AlreadyExists => ErrorKind::Conflict,
        _ => ErrorKind::Failed,
    };
    let data = json!({ "errno": error.raw_os_error() }).to_string();
    Error {
        kind,
        message: error.to_string(),
        data: Some(data),
    }
}

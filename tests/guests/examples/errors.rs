//! Says no: with every kind of error, with and without details, and with details that
//! are no JSON.

use prx_guests::tools::{Error, ErrorKind};
use prx_guests::{Tool, guest};

guest![
    Tool::new(
        "fail",
        "Fails with that kind, message and JSON details.",
        |arguments| {
            let kind = match arguments.text("kind")?.as_str() {
                "invalid_arguments" => ErrorKind::InvalidArguments,
                "denied" => ErrorKind::Denied,
                "not_found" => ErrorKind::NotFound,
                "conflict" => ErrorKind::Conflict,
                "unavailable" => ErrorKind::Unavailable,
                _ => ErrorKind::Failed,
            };
            let data = arguments.optional_text("data");
            Err(Error {
                kind,
                message: arguments.text("message")?,
                data,
            })
        }
    )
    .takes("kind", "string")
    .takes("message", "string")
    .may_take("data", "string"),
    Tool::new(
        "fail_at_length",
        "Fails with a message of that many bytes.",
        |arguments| {
            let message = "e".repeat(arguments.size("bytes")?);
            Err(Error {
                kind: ErrorKind::Failed,
                message,
                data: None,
            })
        }
    )
    .takes("bytes", "integer"),
];

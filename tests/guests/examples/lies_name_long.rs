//! Describes a tool with a name of 200 letters.

prx_guests::describes!(vec![prx_guests::spec(
    &"n".repeat(200),
    r#"{"type": "object"}"#
)]);

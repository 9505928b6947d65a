//! Describes a tool with a name of letters that are not ASCII.

prx_guests::describes!(vec![prx_guests::spec(
    "gr\u{fc}\u{df}e",
    r#"{"type": "object"}"#
)]);

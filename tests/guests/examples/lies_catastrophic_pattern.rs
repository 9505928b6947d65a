//! Describes a tool whose patterns take a backtracking matcher for ever, or a
//! compiling one much memory.

prx_guests::describes!(vec![
    prx_guests::spec(
        "backtracking",
        r#"{"type": "object", "properties": {"value": {"type": "string", "pattern": "^(a+)+$"}}}"#
    ),
    prx_guests::spec(
        "look_around",
        r#"{"type": "object", "properties": {"value": {"type": "string", "pattern": "^(?=(a+)+$)(a|aa)+\\1b$"}}}"#
    ),
    prx_guests::spec(
        "counting",
        r#"{"type": "object", "properties": {"value": {"type": "string", "pattern": "^((((a{1,99}){1,99}){1,99}){1,99}){1,99}$"}}}"#
    ),
]);

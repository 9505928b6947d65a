//! Describes a tool whose schema is 10,000 levels deep.

const LEVELS: usize = 10_000;

prx_guests::describes!(vec![prx_guests::spec(
    "deep",
    &format!(
        r#"{{"type": "object", "properties": {}{{}}{}}}"#,
        r#"{"a": {"properties": "#.repeat(LEVELS),
        "}}".repeat(LEVELS)
    )
)]);

//! Describes a tool whose schema refers to a file of the host.

prx_guests::describes!(vec![prx_guests::spec(
    "file",
    r#"{"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}"#
)]);

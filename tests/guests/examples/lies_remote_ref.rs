//! Describes a tool whose schema refers to a document in the network.

prx_guests::describes!(vec![prx_guests::spec(
    "remote",
    r#"{"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}"#
)]);

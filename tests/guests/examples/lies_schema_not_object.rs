//! Describes a tool whose arguments are a text instead of an object.

prx_guests::describes!(vec![prx_guests::spec("text", r#"{"type": "string"}"#)]);

//! Describes a tool with a name with spaces.

prx_guests::describes!(vec![prx_guests::spec("two words", r#"{"type": "object"}"#)]);

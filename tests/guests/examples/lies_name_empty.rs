//! Describes a tool with a name without a letter.

prx_guests::describes!(vec![prx_guests::spec("", r#"{"type": "object"}"#)]);

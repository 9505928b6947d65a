//! Describes a tool with a name that begins with a digit.

prx_guests::describes!(vec![prx_guests::spec("1st", r#"{"type": "object"}"#)]);

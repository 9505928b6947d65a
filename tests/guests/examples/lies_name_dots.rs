//! Describes a tool with a name with dots.

prx_guests::describes!(vec![prx_guests::spec("a.b.c", r#"{"type": "object"}"#)]);

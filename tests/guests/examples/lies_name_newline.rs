//! Describes a tool with a name of two lines.

prx_guests::describes!(vec![prx_guests::spec("one\ntwo", r#"{"type": "object"}"#)]);

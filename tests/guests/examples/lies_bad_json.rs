//! Describes a tool whose schema is no JSON.

prx_guests::describes!(vec![prx_guests::spec("broken", r#"{"type": "object", "#)]);

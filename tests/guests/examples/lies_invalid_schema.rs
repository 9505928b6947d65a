//! Describes a tool whose schema is JSON but no JSON Schema.

prx_guests::describes!(vec![prx_guests::spec("twelve", r#"{"type": 12}"#)]);

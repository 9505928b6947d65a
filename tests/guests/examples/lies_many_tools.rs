//! Describes 10,000 tools.

prx_guests::describes!(
    (0..10_000)
        .map(|number| prx_guests::spec(&format!("tool_{number}"), r#"{"type": "object"}"#))
        .collect()
);

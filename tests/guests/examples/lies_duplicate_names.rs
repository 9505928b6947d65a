//! Describes two tools of one name, and one that differs by case only.

prx_guests::describes!(
    ["twin", "twin", "Twin"]
        .map(|name| prx_guests::spec(name, r#"{"type": "object"}"#))
        .into()
);

//! Keeps the contract, and breaks rules that clients of models have on top of it.

use prx_guests::tools::{Hints, ToolSpec};
use prx_guests::{describes, no_hints, spec};

/// By a number or by a name: a choice at the root, with references behind it.
const CHOICE: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": { "place": { "$ref": "#/$defs/place" } },
    "anyOf": [
        { "properties": { "id": { "type": "integer", "description": "By number." } }, "required": ["id"] },
        { "properties": { "name": { "type": "string", "description": "By name." } }, "required": ["name"] }
    ],
    "$defs": { "place": { "type": ["string", "integer"], "description": "Where to look." } }
}"##;

describes!(vec![
    spec("choose", CHOICE),
    ToolSpec {
        hints: Hints {
            read_only: Some(true),
            destructive: Some(true),
            ..no_hints()
        },
        ..spec("a_name_without_room_in_front", r#"{"type": "object"}"#)
    },
]);

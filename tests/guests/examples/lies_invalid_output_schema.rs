//! Describes a tool whose output schema is JSON but no JSON Schema.

prx_guests::describes!(vec![prx_guests::tools::ToolSpec {
    output_schema: Some(r#"{"type": "object", "required": "sum"}"#.to_owned()),
    ..prx_guests::spec("required", r#"{"type": "object"}"#)
}]);

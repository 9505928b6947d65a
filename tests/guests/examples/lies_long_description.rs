//! Describes a tool in 10 MB.

prx_guests::describes!(vec![prx_guests::tools::ToolSpec {
    description: "Very useful. ".repeat(10 * 1024 * 1024 / 13),
    ..prx_guests::spec("long", r#"{"type": "object"}"#)
}]);

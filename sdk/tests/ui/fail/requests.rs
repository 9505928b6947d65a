use prx_skill::prelude::*;

/// Ask for a folder without a reason.
#[tool(reads("/docs"))]
fn no_reason() {}

/// Ask for a relative folder.
#[tool(reads("docs", "to read"))]
fn relative() {}

/// Ask for a URL.
#[tool(network("https://example.com", "to ask"))]
fn url() {}

/// Ask for nothing that exists.
#[tool(optional(microphone("to listen")))]
fn microphone() {}

fn main() {}

use prx_skill::prelude::*;

/// Have a name that no client accepts.
#[tool(name = "word count")]
fn wordcount() {}

/// Begin with an underscore.
#[tool]
fn _hidden() {}

fn main() {}

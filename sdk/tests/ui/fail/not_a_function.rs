use prx_skill::prelude::*;

/// A struct.
#[tool]
struct Tool;

#[data(both)]
struct Counts;

#[data]
fn data() {}

fn main() {}

use prx_skill::prelude::*;

/// A tool.
#[tool]
fn good() {}

struct Plain;

prx_skill::skill!(good, Plain);

fn main() {}

use prx_skill::prelude::*;

/// Limit something.
#[tool]
fn limit(#[default(true)] count: u8) -> String {
    count.to_string()
}

prx_skill::skill!(limit);

fn main() {}

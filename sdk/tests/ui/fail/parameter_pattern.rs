use prx_skill::prelude::*;

/// Take a pair apart.
#[tool]
fn pair((a, b): (u8, u8)) -> String {
    format!("{a}{b}")
}

prx_skill::skill!(pair);

fn main() {}

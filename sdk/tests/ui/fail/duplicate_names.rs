use prx_skill::prelude::*;

mod elsewhere {
    use prx_skill::prelude::*;

    /// One.
    #[tool(name = "same")]
    pub fn one() {}
}

/// Another.
#[tool]
fn other() {}

/// The same.
#[tool]
fn same() {}

prx_skill::skill!(elsewhere::one, other, same);

fn main() {}

use prx_skill::prelude::*;

struct Trouble;

/// Fail with something that is no error.
#[tool]
fn fail() -> Result<String, Trouble> {
    Err(Trouble)
}

prx_skill::skill!(fail);

fn main() {}

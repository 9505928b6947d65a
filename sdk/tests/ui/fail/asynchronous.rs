use prx_skill::prelude::*;

/// Wait.
#[tool]
async fn wait() -> String {
    String::new()
}

prx_skill::skill!(wait);

fn main() {}

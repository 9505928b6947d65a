use prx_skill::prelude::*;

/// Limit something.
#[tool]
fn limit(#[default(Some(3))] count: Option<u8>) -> String {
    format!("{count:?}")
}

prx_skill::skill!(limit);

fn main() {}

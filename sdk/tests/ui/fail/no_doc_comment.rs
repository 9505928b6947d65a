use prx_skill::prelude::*;

#[tool]
fn silent(text: String) -> String {
    text
}

prx_skill::skill!(silent);

fn main() {}

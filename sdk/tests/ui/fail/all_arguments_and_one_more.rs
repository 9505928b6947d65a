use prx_skill::prelude::*;

#[data]
struct Query {
    text: String,
}

/// Search.
#[tool]
fn search(#[arguments] query: Query, limit: u8) -> String {
    format!("{} {limit}", query.text)
}

prx_skill::skill!(search);

fn main() {}

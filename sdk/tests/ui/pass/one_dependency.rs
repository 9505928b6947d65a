//! Everything through `prx_skill`, in a crate with strict lints.
#![deny(warnings, missing_docs, clippy::pedantic, unused)]

use prx_skill::prelude::*;

/// What was counted.
#[data]
pub struct Counts {
    /// Words.
    pub words: usize,
}

/// Count words.
#[tool(
    read_only,
    idempotent,
    open_world = false,
    title = "Word count",
    reads("/docs", "to count files"),
    optional(variable("LANG", "to split as people do")),
    network("api.example.com:443", "to look words up"),
    optional(state("to remember the last count")),
)]
pub fn wordcount(
    /// The text to count.
    text: &str,
    /// Count only words at least this long.
    #[default(1)]
    min_length: usize,
) -> Result<Counts, ToolError> {
    let words = text.split_whitespace().filter(|word| word.len() >= min_length).count();
    Ok(Counts { words })
}

prx_skill::skill!(wordcount);

fn main() {
    assert_eq!(wordcount("a bc", 2).unwrap().words, 1);
    let spec = &prx_skill::testing::describe(&SKILL)[0];
    assert_eq!(spec.title, Some("Word count"));
    assert_eq!(spec.hints.open_world, Some(false));
    assert_eq!(spec.hints.destructive, None);
    assert_eq!(spec.requests.len(), 4);
    assert!(spec.requests[1].optional && !spec.requests[0].optional);
}

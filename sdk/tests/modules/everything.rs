//! A skill that uses every interface of the host.

use prx_skill::prelude::*;

#[data]
struct Counts {
    words: usize,
}

/// Count words.
#[tool(read_only, title = "Word count", optional(reads("/docs", "to count files")))]
fn wordcount(
    /// The text.
    text: &str,
    /// Count only words at least this long.
    #[default(1)]
    min_length: usize,
) -> Result<Counts, ToolError> {
    progress::fraction(0.5, "counting");
    log::field("length", text.len()).info("counting");
    let min_length = config::get_or("min_length", min_length)?;
    let words = text.split_whitespace().filter(|word| word.len() >= min_length).count();
    Ok(Counts { words })
}

/// Count calls.
#[tool(state("to remember the count"))]
fn visits() -> Result<String, ToolError> {
    Ok(state::increment("visits", 1)?.to_string())
}

prx_skill::skill!(wordcount, visits);

//! The skill `counter`: four tools over the state that the host keeps for a skill between
//! calls. It needs room for that state (`max_state_kb`) and nothing else.

pub mod counters;

use prx_skill::prelude::*;

use crate::counters::{Counter, Counters, Reset};

/// Add to a named counter and answer its new value. A counter that does not exist begins at 0.
#[tool(
    title = "Count",
    read_only = false,
    destructive = false,
    idempotent = false,
    open_world = false,
    state("to keep the counters between calls")
)]
fn increment(
    /// The counter's name, for instance `coffee`.
    #[schemars(length(min = 1, max = 200))]
    name: &str,
    /// How much to add; negative to subtract.
    #[default(1)]
    by: i64,
) -> Result<Counter, ToolError> {
    let counter = counters::increment(name, by)?;
    log::field("name", name)
        .field("value", counter.value)
        .debug("counted");
    Ok(counter)
}

/// Tell the value of a named counter without changing it.
#[tool(
    title = "Read a counter",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    state("to read the counters")
)]
fn get(
    /// The counter's name.
    name: &str,
) -> Result<Counter, ToolError> {
    counters::get(name)
}

/// Set a named counter back to 0, remove it from the list and answer the value it had.
#[tool(
    title = "Reset a counter",
    read_only = false,
    destructive,
    idempotent,
    open_world = false,
    state("to remove counters")
)]
fn reset(
    /// The counter's name.
    name: &str,
    /// Reset it only if it has this value; else the call is a conflict that tells the value.
    expected: Option<i64>,
) -> Result<Reset, ToolError> {
    let reset = counters::reset(name, expected)?;
    log::field("name", name)
        .field("was", reset.was)
        .info("reset a counter");
    Ok(reset)
}

/// List the counters by name with their values, and tell how full the state is.
#[tool(
    title = "List counters",
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    state("to read the counters")
)]
fn list(
    /// Only counters whose names begin with this.
    #[default("")]
    prefix: &str,
    /// Only counters that come after this name: `next` of the answer before.
    after: Option<String>,
    /// Counters to give at most.
    #[default(100)]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
) -> Result<Counters, ToolError> {
    counters::list(prefix, after.as_deref(), limit)
}

prx_skill::skill!(increment, get, reset, list);

#[cfg(test)]
mod tests;

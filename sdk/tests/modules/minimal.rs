//! The five-line skill: nothing but `prx_skill`, no import of the host's.

use prx_skill::prelude::*;

/// Greet somebody.
#[tool(read_only)]
fn greet(
    /// Who is greeted.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

prx_skill::skill!(greet);

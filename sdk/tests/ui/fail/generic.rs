use prx_skill::prelude::*;

/// Show anything.
#[tool]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

/// Show anything, without saying so.
#[tool]
fn show_hidden(value: impl ToString) -> String {
    value.to_string()
}

prx_skill::skill!(show, show_hidden);

fn main() {}

use prx_skill::prelude::*;

/// Change the caller's text.
#[tool]
fn change(text: &mut String) {
    text.clear();
}

/// Keep the caller's text.
#[tool]
fn keep(text: &'static str) -> String {
    text.to_owned()
}

/// Borrow perhaps.
#[tool]
fn perhaps(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

prx_skill::skill!(change, keep, perhaps);

fn main() {}

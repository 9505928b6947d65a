use prx_skill::prelude::*;

/// Read.
#[tool(readonly)]
fn read() -> String {
    String::new()
}

prx_skill::skill!(read);

fn main() {}

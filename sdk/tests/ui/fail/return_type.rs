use prx_skill::prelude::*;

struct Opaque;

/// Give something that has no form.
#[tool]
fn opaque() -> Opaque {
    Opaque
}

/// Give it perhaps.
#[tool]
fn perhaps() -> Result<Opaque, ToolError> {
    Ok(Opaque)
}

/// Give it or nothing.
#[tool]
fn optional() -> Option<Opaque> {
    None
}

/// Hide it.
#[tool]
fn hidden() -> impl Serialize {
    1
}

prx_skill::skill!(opaque, perhaps, optional, hidden);

fn main() {}

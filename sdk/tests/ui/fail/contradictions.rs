use prx_skill::prelude::*;

/// Read and destroy.
#[tool(read_only, destructive)]
fn destroy() {}

/// Read and write.
#[tool(read_only, writes("/notes", "to keep notes"))]
fn write() {}

/// Ask twice.
#[tool(state("once"), state("twice"))]
fn twice() {}

/// Say a thing twice.
#[tool(idempotent, idempotent = false)]
fn again() {}

fn main() {}

//! Well behaved, and made with the SDK: changes the tools of the host that it runs in, as
//! anybody does who puts a module into the folder or takes one out. It may because its test
//! granted it that folder.

use std::fs;
use std::path::Path;

use prx_skill::prelude::*;

/// Brings a module to the others, or takes it away again.
#[tool(
    writes("/modules", "to change the tools"),
    reads("/spare", "to have a module")
)]
fn trigger() -> Result<&'static str, ToolError> {
    let place = Path::new("/modules/spare.wasm");
    if place.exists() {
        fs::remove_file(place)?;
        return Ok("taken away");
    }
    // A host sees whole modules only.
    let unfinished = Path::new("/modules/.spare.tmp");
    fs::copy("/spare/spare.wasm", unfinished)?;
    fs::rename(unfinished, place)?;
    Ok("brought")
}

prx_skill::skill!(trigger);

//! The cases of the contract, each for any fixture.

pub mod arguments;
pub mod children;
pub mod ends;
pub mod folders;
pub mod input;
pub mod many;
pub mod output;
pub mod time;
pub mod variables;

use std::collections::HashMap;

use anyhow::Result;
use prx_host::ExecutionOutput;

use crate::fixture::{Behaviour, Fixture, Stage};

/// Plays a role with nothing special.
async fn play<F: Fixture>(
    fixture: &F,
    stage: &Stage,
    behaviour: Behaviour<'_>,
) -> Result<ExecutionOutput> {
    let command = fixture.command(&behaviour)?;
    let env = HashMap::new();
    Ok(stage.adapter.run(command.execution(&env)).await?)
}

/// Texts that are each ended by a NUL.
fn texts(bytes: &[u8]) -> Vec<String> {
    let mut parts: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    assert_eq!(parts.pop().as_deref(), Some(""), "the last is ended too");
    parts
}

//! What a command reads.

use std::collections::HashMap;

use anyhow::Result;

use super::play;
use crate::fixture::{Behaviour, Fixture, Stage};

pub async fn without_input_there_is_its_end<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let output = play(fixture, &stage, Behaviour::Echo).await?;
    assert!(
        output.is_success() && output.stdout.bytes.is_empty(),
        "{output:?}"
    );
    Ok(())
}

pub async fn input_arrives_whole<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Echo)?;
    let large: Vec<u8> = (0..1_000_000_u32)
        .map(|at| at.to_le_bytes()[0] ^ 0x5a)
        .collect();
    for input in [&b""[..], b"\0\xff", &large] {
        let env = HashMap::new();
        let mut execution = command.execution(&env);
        execution.stdin = Some(input);
        execution.max_output = Some(2_000_000);
        let output = stage.adapter.run(execution).await?;
        assert!(output.is_success(), "{:?}", output.ending);
        assert!(
            output.stdout.bytes == input,
            "{} bytes",
            output.stdout.bytes.len()
        );
    }
    Ok(())
}

pub async fn input_that_nobody_reads_does_no_harm<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Exit(7))?;
    let input = vec![1; 1_000_000];
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.stdin = Some(&input);
    let output = stage.adapter.run(execution).await?;
    assert_eq!(output.exit_code, Some(7));
    Ok(())
}

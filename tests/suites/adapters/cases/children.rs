//! What a command started, and what becomes of it.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::Result;
use prx_host::Ending;

use super::play;
use crate::fixture::{Behaviour, Fixture, LONG, Stage, marker};

/// Waits until nothing marked is left, for a time that no machine needs.
pub async fn vanished<F: Fixture>(fixture: &F, marker: &str) -> Result<()> {
    let deadline = Instant::now() + LONG / 2;
    loop {
        let running = fixture.running(marker)?;
        if running.is_empty() {
            return Ok(());
        }
        assert!(Instant::now() < deadline, "still running: {running:?}");
        tokio::task::yield_now().await;
    }
}

pub async fn a_child_that_holds_the_streams_does_not_hold_the_call<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    if !fixture.differences().has_processes {
        return Ok(());
    }
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let output = play(fixture, &stage, Behaviour::Leave { marker: &marker }).await?;
    assert_eq!(
        (output.exit_code, &output.ending),
        (Some(0), &Ending::Exited)
    );
    let told = output.stdout.text();
    assert!(told.contains("left\n"), "{told}");
    assert!(output.duration < LONG / 2, "{:?}", output.duration);
    vanished(fixture, &marker).await
}

pub async fn children_end_with_a_command_that_took_too_long<F: Fixture>(fixture: &F) -> Result<()> {
    if !fixture.differences().has_processes {
        return Ok(());
    }
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let command = fixture.command(&Behaviour::LeaveAndStay { marker: &marker })?;
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.timeout = fixture.deadline();
    let output = stage.adapter.run(execution).await?;
    assert_eq!(output.ending, Ending::TimedOut);
    vanished(fixture, &marker).await
}

pub async fn a_child_in_its_own_session_ends_where_that_is_promised<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    let differences = fixture.differences();
    if !differences.has_processes {
        return Ok(());
    }
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let output = play(fixture, &stage, Behaviour::Daemonise { marker: &marker }).await?;
    assert_eq!(output.exit_code, Some(0));
    assert!(output.duration < LONG / 2, "{:?}", output.duration);
    if differences.holds_sessions {
        vanished(fixture, &marker).await
    } else {
        let running = fixture.running(&marker)?;
        assert_eq!(running.len(), 1, "the difference is not there any more");
        fixture.end(&marker)
    }
}

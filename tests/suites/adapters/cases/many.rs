//! Many calls of one adapter.

use std::collections::HashMap;

use anyhow::Result;
use futures::future::try_join_all;
use prx_host::Ending;

use super::{play, texts};
use crate::fixture::{Behaviour, Fixture, LONG, Stage, marker};

pub async fn calls_at_once_do_not_disturb_each_other<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let numbers: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let stage = &stage;
    let calls = numbers.iter().map(|number| async move {
        let arguments = [number.as_str()];
        let output = play(fixture, stage, Behaviour::PrintArguments(&arguments)).await?;
        anyhow::Ok((texts(&output.stdout.bytes), number))
    });
    for (told, number) in try_join_all(calls).await? {
        assert_eq!(told, [number.as_str()]);
    }
    Ok(())
}

pub async fn a_call_after_a_failed_one_works<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let slow = fixture.command(&Behaviour::Sleep { marker: &marker })?;
    let env = HashMap::new();
    let mut execution = slow.execution(&env);
    execution.timeout = fixture.deadline();
    let output = stage.adapter.run(execution).await?;
    assert_eq!(output.ending, Ending::TimedOut);
    for behaviour in [Behaviour::Abort, Behaviour::Exit(1)] {
        play(fixture, &stage, behaviour).await?;
    }
    let output = play(fixture, &stage, Behaviour::Print(b"fine", b"")).await?;
    assert_eq!(output.stdout.bytes, b"fine");
    Ok(())
}

pub async fn plain_execution_is_the_same_as_a_rich_one<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Print(b"out", b"err"))?;
    let env = HashMap::new();
    let rich = stage.adapter.run(command.execution(&env)).await?;
    let folder = Some(stage.workspace.as_path());
    let adapter = &stage.adapter;
    let plain = adapter
        .execute(&command.program, &command.args, &env, folder, LONG)
        .await?;
    assert_eq!((plain.stdout, plain.stderr), (rich.stdout, rich.stderr));
    assert_eq!(
        (plain.exit_code, plain.ending),
        (rich.exit_code, rich.ending)
    );
    assert!(adapter.is_available().await);
    Ok(())
}

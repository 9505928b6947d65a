//! An engine that dies during a call: a typed error, no hang, and nothing left once it is
//! back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_host::model::Event;
use prx_host::{Ending, Execution, Program, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::LONG;
use rustix::process::Signal;
use tokio::sync::Notify;

use crate::own::{Engine, yard_on};

#[tokio::test]
async fn an_engine_killed_during_a_call_is_an_error_and_leaves_nothing_once_it_is_back()
-> Result<()> {
    let Some(mut engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    let begun = Arc::new(Notify::new());
    let notified = begun.clone();
    let none = HashMap::new();
    let mut execution = Execution::new(Program::Shell("echo begun; sleep 1000"), &none, LONG);
    execution.events = Some(Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notified.notify_one();
        }
    }));
    let killing = async {
        begun.notified().await;
        engine.kill()
    };
    let call = tokio::time::timeout(LONG / 2, adapter.run(execution));
    let (output, killed) = tokio::join!(call, killing);
    killed?;
    let error = output.context("it hangs")?.expect_err("the engine is dead");
    ensure!(
        matches!(error, RuntimeError::Interrupted { .. }),
        "{error:?}"
    );
    assert!(!adapter.is_available().await);

    let next = adapter.execute("true", &[], &none, None, LONG).await;
    let error = next.expect_err("the engine is dead");
    ensure!(
        matches!(error, RuntimeError::Unavailable { .. }),
        "{error:?}"
    );

    engine.start_daemon().await?;
    yard.emptied().await?;
    let again = adapter.execute("true", &[], &none, None, LONG).await?;
    assert!(again.is_success(), "the same adapter goes on: {again:?}");
    Ok(())
}

#[tokio::test]
async fn an_engine_that_stops_answering_does_not_stop_the_deadline() -> Result<()> {
    let Some(engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let begun = Arc::new(Notify::new());
    let notified = begun.clone();
    let line = "echo begun; sleep 1000";
    let mut execution = Execution::new(Program::Shell(line), &none, Duration::from_secs(5));
    execution.events = Some(Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notified.notify_one();
        }
    }));
    let freezing = async {
        begun.notified().await;
        engine.signal(Signal::STOP)
    };
    let call = tokio::time::timeout(LONG, adapter.run(execution));
    let (output, frozen) = tokio::join!(call, freezing);
    frozen?;
    let output = output.context("it hangs")??;
    assert_eq!(output.ending, Ending::TimedOut);
    assert_eq!(output.stdout.bytes, b"begun\n");
    engine.signal(Signal::CONT)?;
    yard.emptied().await
}

#[tokio::test]
async fn an_engine_that_does_not_even_tell_of_the_image_does_not_stop_the_deadline() -> Result<()> {
    let Some(engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    engine.signal(Signal::STOP)?;
    let none = HashMap::new();
    let execution = Execution::new(Program::Shell("true"), &none, Duration::from_secs(1));
    let output = tokio::time::timeout(LONG, adapter.run(execution)).await;
    engine.signal(Signal::CONT)?;
    assert_eq!(output.context("it hangs")??.ending, Ending::TimedOut);
    yard.emptied().await
}

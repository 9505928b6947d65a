//! However a call ends, its container is gone afterwards.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bollard::models::ContainerSummaryStateEnum;
use prx_host::model::{Event, EventSink};
use prx_host::{DockerAdapter, Ending, Execution, ExecutionOutput, Program, RuntimeAdapter as _};
use prx_tests::containers::{LONG, Yard};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Says that it has begun and never ends by itself; it does not mind being asked to.
const ENDLESS: &str = "trap '' TERM INT HUP; echo begun; while :; do sleep 1; done";

/// Something that is notified at the first output.
fn first_output() -> (Arc<Notify>, EventSink) {
    let notify = Arc::new(Notify::new());
    let notified = notify.clone();
    let sink: EventSink = Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notified.notify_one();
        }
    });
    (notify, sink)
}

/// Runs the endless command until `until` is over; `None`: the call was dropped then.
async fn endless(
    adapter: &DockerAdapter,
    cancel: Option<&CancellationToken>,
    until: impl AsyncFnOnce(),
) -> Option<Result<ExecutionOutput, prx_host::RuntimeError>> {
    let none = HashMap::new();
    let (begun, sink) = first_output();
    let mut execution = Execution::new(Program::Shell(ENDLESS), &none, LONG);
    execution.events = Some(sink);
    execution.cancel = cancel;
    let mut call = adapter.run(execution);
    tokio::select! {
        output = &mut call => return Some(output),
        () = begun.notified() => {}
    }
    until().await;
    cancel?;
    Some(call.await)
}

fn limited<F: Future>(future: F) -> impl Future<Output = Result<F::Output>> {
    let limited = tokio::time::timeout(LONG, future);
    async { limited.await.context("it hangs") }
}

#[tokio::test]
async fn a_call_past_its_deadline_is_ended_and_its_output_kept() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let execution = Execution::new(Program::Shell(ENDLESS), &none, Duration::from_secs(3));
    let output = limited(adapter.run(execution)).await??;
    assert_eq!(output.ending, Ending::TimedOut);
    assert_eq!(output.exit_code, None);
    assert_eq!(output.stdout.bytes, b"begun\n");
    ensure!(yard.containers().await?.is_empty(), "gone when it returns");
    Ok(())
}

#[tokio::test]
async fn a_command_that_closed_its_streams_and_goes_on_is_ended_too() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let line = "echo begun; exec >&- 2>&-; while :; do sleep 1; done";
    let execution = Execution::new(Program::Shell(line), &none, Duration::from_secs(3));
    let output = limited(adapter.run(execution)).await??;
    assert_eq!(output.ending, Ending::TimedOut);
    assert_eq!(output.exit_code, None);
    assert_eq!(output.stdout.bytes, b"begun\n");
    ensure!(yard.containers().await?.is_empty(), "gone when it returns");
    Ok(())
}

#[tokio::test]
async fn a_call_stopped_while_it_starts_leaves_nothing_to_keep() -> Result<()> {
    let yard = Yard::with("auto_remove = false\n")?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    for millis in [1, 20, 60, 120, 180, 240] {
        let timeout = Duration::from_millis(millis);
        let execution = Execution::new(Program::Shell(ENDLESS), &none, timeout);
        limited(adapter.run(execution)).await??;
    }
    drop(adapter);
    let client = prx_tests::containers::client(&yard.socket)?;
    for container in yard.containers().await? {
        let ended = container.state == Some(ContainerSummaryStateEnum::EXITED);
        let id = container.id.context("an id")?;
        let options = bollard::query_parameters::RemoveContainerOptionsBuilder::new()
            .force(true)
            .build();
        client.remove_container(&id, Some(options)).await?;
        ensure!(ended, "one that never started, or runs on: {id}");
    }
    Ok(())
}

#[tokio::test]
async fn a_deadline_that_has_passed_already_leaves_nothing() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    for millis in [0, 1, 5, 20, 60, 120] {
        let timeout = Duration::from_millis(millis);
        let execution = Execution::new(Program::Shell(ENDLESS), &none, timeout);
        let output = limited(adapter.run(execution)).await??;
        assert_eq!(output.ending, Ending::TimedOut);
    }
    // The adapter's end waits for what the engine was still at.
    drop(adapter);
    ensure!(yard.containers().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_cancelled_call_is_ended_and_its_output_kept() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let token = CancellationToken::new();
    let call = endless(&adapter, Some(&token), async || token.cancel());
    let output = limited(call).await?.context("an answer")??;
    assert_eq!(output.ending, Ending::Cancelled);
    assert_eq!(output.stdout.bytes, b"begun\n");
    ensure!(yard.containers().await?.is_empty(), "gone when it returns");
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_is_ended() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let dropped = limited(endless(&adapter, None, async || {})).await?;
    ensure!(dropped.is_none(), "{dropped:?}");
    yard.emptied().await
}

#[tokio::test]
async fn calls_dropped_at_any_moment_leave_nothing() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    for millis in (0..300).step_by(23) {
        let execution = Execution::new(Program::Shell(ENDLESS), &none, LONG);
        let call = adapter.run(execution);
        // Wherever it is by then: nothing depends on that.
        let _ = tokio::time::timeout(Duration::from_millis(millis), call).await;
    }
    drop(adapter);
    ensure!(yard.containers().await?.is_empty());
    Ok(())
}

#[test]
fn a_call_whose_runtime_ends_leaves_nothing() -> Result<()> {
    let yard = Yard::new()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let adapter = runtime.block_on(yard.adapter())?;
    let of_call = adapter.clone();
    let (begun, sink) = first_output();
    runtime.spawn(async move {
        let none = HashMap::new();
        let mut execution = Execution::new(Program::Shell(ENDLESS), &none, LONG);
        execution.events = Some(sink);
        of_call.run(execution).await
    });
    runtime.block_on(begun.notified());
    drop(runtime);
    drop(adapter);
    let runtime = tokio::runtime::Runtime::new()?;
    ensure!(runtime.block_on(yard.containers())?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_listener_that_panics_leaves_nothing() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let call = tokio::spawn(async move {
        let none = HashMap::new();
        let mut execution = Execution::new(Program::Shell(ENDLESS), &none, LONG);
        execution.events = Some(Arc::new(|_| panic!("a listener that panics")));
        adapter.run(execution).await
    });
    let ended = limited(call).await?;
    ensure!(ended.is_err_and(|error| error.is_panic()));
    yard.emptied().await
}

#[tokio::test]
async fn a_container_that_others_remove_is_an_error_and_no_hang() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let never = CancellationToken::new();
    let call = endless(&adapter, Some(&never), async || {
        let client = prx_tests::containers::client(&yard.socket).expect("a client");
        let options = bollard::query_parameters::RemoveContainerOptionsBuilder::new()
            .force(true)
            .build();
        for container in yard.containers().await.expect("a list") {
            let id = container.id.expect("an id");
            let _ = client.remove_container(&id, Some(options.clone())).await;
        }
    });
    // Whether the engine still tells how it ended is a matter of moments.
    match limited(call).await?.context("an answer")? {
        Ok(output) => assert_eq!(output.exit_code, Some(137), "{output:?}"),
        Err(error) => assert!(error.to_string().contains("removed"), "{error}"),
    }
    yard.emptied().await
}

#[tokio::test]
async fn a_container_that_is_to_be_kept_stays_ended() -> Result<()> {
    let yard = Yard::with("auto_remove = false\n")?;
    let adapter = yard.adapter().await?;
    let token = CancellationToken::new();
    let call = endless(&adapter, Some(&token), async || token.cancel());
    limited(call).await?.context("an answer")??;
    // Another host starts and sweeps.
    yard.adapter().await?;
    let containers = yard.containers().await?;
    ensure!(containers.len() == 1, "{containers:?}");
    assert_eq!(containers[0].state, Some(ContainerSummaryStateEnum::EXITED));
    let id = containers[0].id.clone().context("an id")?;
    prx_tests::containers::client(&yard.socket)?
        .remove_container(&id, None)
        .await?;
    Ok(())
}

#[tokio::test]
async fn many_calls_at_once_have_each_their_own_container() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let calls = (0..12).map(|number| {
        let (adapter, none) = (&adapter, &none);
        async move {
            let args = [format!("answer {number}")];
            let output = adapter.execute("echo", &args, none, None, LONG).await?;
            ensure!(output.stdout.bytes == format!("answer {number}\n").as_bytes());
            Ok(())
        }
    });
    for answer in futures::future::join_all(calls).await {
        answer?;
    }
    // The engine tidies up after the answers.
    yard.emptied().await
}

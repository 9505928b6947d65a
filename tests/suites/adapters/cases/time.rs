//! What ends a command that does not end by itself.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use prx_host::model::{Event, EventSink};
use prx_host::{Ending, ExecutionOutput};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Behaviour, Fixture, LONG, SHORT, Stage, marker};

/// Tells when the command has written something.
fn listener() -> (Arc<Notify>, EventSink) {
    let begun = Arc::new(Notify::new());
    let notify = Arc::clone(&begun);
    let sink: EventSink = Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notify.notify_one();
        }
    });
    (begun, sink)
}

async fn timed_out<F: Fixture>(fixture: &F, behaviour: Behaviour<'_>) -> Result<ExecutionOutput> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&behaviour)?;
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.timeout = SHORT;
    let output = stage.adapter.run(execution).await?;
    assert_eq!(
        (output.exit_code, &output.ending),
        (None, &Ending::TimedOut)
    );
    assert!(output.duration < LONG / 2, "{:?}", output.duration);
    Ok(output)
}

pub async fn a_timeout_ends_the_command_and_keeps_its_output<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    let marker = marker();
    let output = timed_out(fixture, Behaviour::Sleep { marker: &marker }).await?;
    assert_eq!(output.stdout.bytes, b"begun\n");
    assert_eq!(fixture.running(&marker)?, Vec::<String>::new());
    Ok(())
}

pub async fn a_timeout_ends_a_command_that_uses_the_processor<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    timed_out(fixture, Behaviour::Spin).await?;
    Ok(())
}

pub async fn a_command_that_ignores_the_signal_is_ended<F: Fixture>(fixture: &F) -> Result<()> {
    let marker = marker();
    let output = timed_out(fixture, Behaviour::Stubborn { marker: &marker }).await?;
    assert_eq!(output.stdout.bytes, b"begun\n");
    assert_eq!(fixture.running(&marker)?, Vec::<String>::new());
    Ok(())
}

pub async fn a_cancellation_ends_the_command_and_keeps_its_output<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let command = fixture.command(&Behaviour::Sleep { marker: &marker })?;
    let (begun, sink) = listener();
    let token = CancellationToken::new();
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.events = Some(sink);
    execution.cancel = Some(&token);
    let cancel = async {
        begun.notified().await;
        token.cancel();
    };
    let (output, ()) = tokio::join!(stage.adapter.run(execution), cancel);
    let output = output?;
    assert_eq!(
        (output.exit_code, &output.ending),
        (None, &Ending::Cancelled)
    );
    assert_eq!(output.stdout.bytes, b"begun\n");
    assert_eq!(fixture.running(&marker)?, Vec::<String>::new());
    Ok(())
}

pub async fn a_call_that_is_cancelled_already_ends<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let command = fixture.command(&Behaviour::Sleep { marker: &marker })?;
    let token = CancellationToken::new();
    token.cancel();
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.cancel = Some(&token);
    let output = stage.adapter.run(execution).await?;
    assert_eq!((output.exit_code, output.ending), (None, Ending::Cancelled));
    assert_eq!(fixture.running(&marker)?, Vec::<String>::new());
    Ok(())
}

pub async fn a_dropped_future_ends_the_command<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let marker = marker();
    let command = fixture.command(&if fixture.differences().has_processes {
        Behaviour::LeaveAndStay { marker: &marker }
    } else {
        Behaviour::Sleep { marker: &marker }
    })?;
    let (begun, sink) = listener();
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.events = Some(sink);
    tokio::select! {
        output = stage.adapter.run(execution) => panic!("{output:?}"),
        () = begun.notified() => {}
    }
    super::children::vanished(fixture, &marker).await
}

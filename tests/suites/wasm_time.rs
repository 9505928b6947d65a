//! Time: whatever a guest does with it, its call ends when it should, says which limit
//! ended it, and nobody else waits.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, Event, EventSink, Outcome, OutcomeKind, TrapKind};
use prx_tests::calls::{answer, assert_healthy, broken, call, text};
use prx_tests::{Stage, fixtures, process};
use serde_json::json;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio_util::sync::CancellationToken;

/// Hears that a guest runs: it has written to its standard error.
fn started() -> (EventSink, UnboundedReceiver<()>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let sink: EventSink = Arc::new(move |event: Event<'_>| {
        if matches!(event, Event::Stderr(_)) {
            // Nobody listens any more when the test has seen enough.
            let _ = sender.send(());
        }
    });
    (sink, receiver)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_past_its_limit_is_ended_and_the_limit_is_named() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["time"])?
        .entries("[tools.custom.time]\ntimeout_secs = 0.3");
    let host = stage.open().await?;
    let place = stage.place_of("timeout_secs = 0.3")?;
    for (tool, arguments) in [
        ("time_spin", json!({})),
        ("time_work", json!({ "rounds": u64::MAX })),
        ("time_sleep", json!({ "millis": 3_600_000 })),
        ("time_poll", json!({})),
        ("time_poll_again", json!({})),
    ] {
        let outcome = call(&host, tool, arguments).await;
        let expected = Outcome::TimedOut {
            limit: Duration::from_millis(300),
            set_by: format!("tools.custom.time.timeout_secs ({place})"),
        };
        ensure!(outcome == expected, "{tool}: {outcome:?}");
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nearest_limit_holds_and_its_key_is_named() -> Result<()> {
    let backend = Stage::new()?.guests(&["time"])?.wasm("timeout_secs = 0.2");
    let backend = backend.runtime("default_timeout_secs = 60");
    let runtime = Stage::new()?
        .guests(&["time"])?
        .runtime("default_timeout_secs = 0.2");
    for (stage, key, line) in [
        (backend, "runtime.wasm.timeout_secs", "timeout_secs = 0.2"),
        (
            runtime,
            "runtime.default_timeout_secs",
            "default_timeout_secs = 0.2",
        ),
    ] {
        let host = stage.open().await?;
        let expected = Outcome::TimedOut {
            limit: Duration::from_millis(200),
            set_by: format!("{key} ({})", stage.place_of(line)?),
        };
        assert_eq!(call(&host, "time_spin", json!({})).await, expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_can_shorten_the_limit_and_not_lengthen_it() -> Result<()> {
    let entries = "[tools.custom.long]\nmodule = \"time.wasm\"\ntimeout_secs = 600\n\
                   [tools.custom.short]\nmodule = \"time.wasm\"\ntimeout_secs = 0.2";
    let stage = Stage::new()?.guests(&["time"])?.entries(entries);
    let host = stage.open().await?;
    let with_timeout = |timeout| CallOptions {
        timeout: Some(timeout),
        ..CallOptions::default()
    };
    let own = Duration::from_millis(150);
    let shortened = host.call("long_spin", "{}", with_timeout(own)).await;
    let expected = Outcome::TimedOut {
        limit: own,
        set_by: "the caller".to_owned(),
    };
    assert_eq!(shortened.outcome, expected);

    let hour = Duration::from_hours(1);
    let lengthened = host.call("short_spin", "{}", with_timeout(hour)).await;
    let expected = Outcome::TimedOut {
        limit: Duration::from_millis(200),
        set_by: format!(
            "tools.custom.short.timeout_secs ({})",
            stage.place_of("timeout_secs = 0.2")?
        ),
    };
    assert_eq!(lengthened.outcome, expected);
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standard_input_is_empty_and_nobody_waits_for_it() -> Result<()> {
    let stage = Stage::new()?.guests(&["time"])?;
    let host = stage.open().await?;
    assert_eq!(text(&host, "time_stdin", json!({})).await?, "read 0 bytes");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_function_is_under_the_limits_of_its_call() -> Result<()> {
    let entry = |name: &str, start: &str| {
        format!(
            "[tools.custom.{name}]\nmodule = \"starts.wasm\"\ntimeout_secs = 0.3\n\
             [tools.custom.{name}.env]\nPRX_GUEST_START = \"{start}\"\n"
        )
    };
    let stage = Stage::new()?.guests(&["starts"])?.entries(&format!(
        "{}{}{}{}[tools.custom.well]\nmodule = \"starts.wasm\"\n",
        entry("spins", "spin"),
        entry("sleeps", "sleep"),
        entry("traps", "trap"),
        entry("exits", "exit"),
    ));
    let host = stage.open().await?;
    // The code is there before limits of parts of a second count.
    assert_eq!(text(&host, "well", json!({})).await?, "started");
    for tool in ["spins", "sleeps"] {
        let outcome = call(&host, tool, json!({})).await;
        ensure!(
            outcome.kind() == OutcomeKind::TimedOut,
            "{tool}: {outcome:?}"
        );
        assert_healthy(&host).await?;
    }
    for (tool, kind) in [("traps", TrapKind::Unreachable), ("exits", TrapKind::Exit)] {
        match call(&host, tool, json!({})).await {
            Outcome::Trapped(trap) if trap.kind == kind => {}
            other => anyhow::bail!("{tool}: {other:?}"),
        }
        assert_healthy(&host).await?;
    }
    assert_eq!(text(&host, "well", json!({})).await?, "started");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modules_that_never_describe_themselves_are_broken_and_others_serve() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["spins_at_start", "spins_in_describe", "sleeps_in_describe"])?
        .guests(&["traps_at_start", "panics_in_describe", "floods_in_describe"])?
        .guests(&["grows_in_describe", "recurses_in_describe"])?
        .module("handmade_spin", &fixtures::spinning_start()?)?
        .module("handmade_trap", &fixtures::trapping_start()?)?;
    let host = stage.open().await?;
    for (module, reason) in [
        ("spins_at_start", "longer than 10 s"),
        ("spins_in_describe", "longer than 10 s"),
        ("sleeps_in_describe", "longer than 10 s"),
        ("handmade_spin", "longer than 10 s"),
        ("traps_at_start", "the guest gave up"),
        ("handmade_trap", "the guest gave up"),
        ("panics_in_describe", "panicked"),
        ("grows_in_describe", "more memory than 128 MiB"),
        ("recurses_in_describe", "stack is exhausted"),
    ] {
        let said = broken(&host, module)?;
        ensure!(said.contains(reason), "{module}: {said}");
        ensure!(said.contains("asking the module for its tools"), "{said}");
        let outcome = call(&host, module, json!({})).await;
        let Outcome::Unavailable { reason: told, help } = outcome else {
            anyhow::bail!("{module}: {outcome:?}");
        };
        ensure!(told.contains(reason) && help.is_some(), "{module}: {told}");
    }
    // A flood of a few kilobytes or a gigabyte: it ends, and the module serves or not.
    let flooding = host.snapshot().tool("floods_in_describe").is_some();
    ensure!(flooding || broken(&host, "floods_in_describe").is_ok());
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_spinning_guests_do_not_keep_others_waiting() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["time"])?
        .entries("[tools.custom.time]\ntimeout_secs = 600");
    let host = stage.open().await?;
    let cancel = CancellationToken::new();
    let (events, mut running) = started();
    let spinning: Vec<_> = (0..8)
        .map(|_| {
            let options = CallOptions {
                cancel: Some(cancel.clone()),
                events: Some(Arc::clone(&events)),
                ..CallOptions::default()
            };
            let host = host.clone();
            tokio::spawn(async move { host.call("time_spin", "{}", options).await })
        })
        .collect();
    for _ in 0..8 {
        running.recv().await.context("a guest ended early")?;
    }
    for _ in 0..20 {
        assert_healthy(&host).await?;
    }
    assert!(spinning.iter().all(|call| !call.is_finished()));
    cancel.cancel();
    for call in spinning {
        assert_eq!(call.await?.outcome, Outcome::Cancelled);
    }
    assert_healthy(&host).await
}

/// A host whose guest `time` holds a granted folder while it spins.
async fn holding(stage: &Stage) -> Result<Host> {
    stage.folder("granted")?;
    stage.open().await
}

fn holding_stage() -> Result<Stage> {
    Ok(Stage::new()?
        .guests(&["time"])?
        .entries("[tools.custom.time]\ntimeout_secs = 600")
        .capabilities("filesystem_read = [\"granted::/granted\"]"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_call_ends_its_guest_at_once() -> Result<()> {
    let stage = holding_stage()?;
    let host = holding(&stage).await?;
    let granted = stage.path("granted");
    for _ in 0..10 {
        let (events, mut running) = started();
        let options = CallOptions {
            events: Some(events),
            ..CallOptions::default()
        };
        let mut spinning = Box::pin(host.call("time_spin", "{}", options));
        tokio::select! {
            report = &mut spinning => anyhow::bail!("it ended: {report:?}"),
            heard = running.recv() => heard.context("nothing was heard")?,
        }
        assert_eq!(process::open_in(&granted)?.len(), 1);
        drop(spinning);
        assert!(process::open_in(&granted)?.is_empty());
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_ends_a_call_before_during_and_after_it() -> Result<()> {
    let stage = holding_stage()?;
    let host = holding(&stage).await?;
    let (events, mut running) = started();
    let cancel = CancellationToken::new();
    let options = CallOptions {
        cancel: Some(cancel.clone()),
        events: Some(events),
        ..CallOptions::default()
    };
    let spinning = {
        let (host, options) = (host.clone(), options.clone());
        tokio::spawn(async move { host.call("time_spin", "{}", options).await })
    };
    running.recv().await.context("nothing was heard")?;
    cancel.cancel();
    let report = spinning.await?;
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.stderr.text(), "spinning\n");
    assert!(process::open_in(&stage.path("granted"))?.is_empty());
    // Cancelled before it began.
    let report = host.call("time_spin", "{}", options).await;
    assert_eq!(report.outcome, Outcome::Cancelled);
    // Cancelled when it was over already.
    let late = CancellationToken::new();
    let options = CallOptions {
        cancel: Some(late.clone()),
        ..CallOptions::default()
    };
    let report = host.call("time_stdin", "{}", options).await;
    assert!(report.outcome.ok().is_some());
    late.cancel();
    answer(&host, "time_work", json!({ "rounds": 10 })).await?;
    assert_healthy(&host).await
}

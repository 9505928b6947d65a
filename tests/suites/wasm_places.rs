//! Places: how many calls run at one time, who waits, and what becomes of modules and
//! machines for which there is no pool.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, CallReport, Event, EventSink, Outcome};
use prx_tests::calls::{assert_healthy, structured, text};
use prx_tests::{Stage, fixtures};
use serde_json::json;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// As many calls as a host runs at one time; ARCHITECTURE.md promises it.
const PLACES: usize = 256;

/// Guests that wait until they are cancelled, one in each place.
struct Crowd {
    calls: Vec<(CancellationToken, JoinHandle<CallReport>)>,
}

impl Crowd {
    async fn gather(host: &Host) -> Result<Self> {
        let (events, mut running) = heard();
        let mut calls = Vec::with_capacity(PLACES);
        for _ in 0..PLACES {
            let cancel = CancellationToken::new();
            let options = CallOptions {
                cancel: Some(cancel.clone()),
                events: Some(Arc::clone(&events)),
                ..CallOptions::default()
            };
            let host = host.clone();
            let call = tokio::spawn(async move { host.call("time_poll", "{}", options).await });
            running.recv().await.context("a guest ended early")?;
            calls.push((cancel, call));
        }
        Ok(Self { calls })
    }

    async fn one_leaves(&mut self) -> Result<()> {
        let (cancel, call) = self.calls.pop().context("nobody is left")?;
        cancel.cancel();
        ensure!(call.await?.outcome == Outcome::Cancelled);
        Ok(())
    }

    async fn all_leave(mut self) -> Result<()> {
        while !self.calls.is_empty() {
            self.one_leaves().await?;
        }
        Ok(())
    }
}

/// Hears that a guest runs: it has written to its standard error.
fn heard() -> (EventSink, UnboundedReceiver<()>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let sink: EventSink = Arc::new(move |event: Event<'_>| {
        if matches!(event, Event::Stderr(_)) {
            let _ = sender.send(());
        }
    });
    (sink, receiver)
}

async fn crowded() -> Result<(Stage, Host)> {
    let stage = Stage::new()?
        .guests(&["time"])?
        .entries("[tools.custom.time]\ntimeout_secs = 600");
    let host = stage.open().await?;
    // The code of everything is there before the crowd comes.
    text(&host, "time_work", json!({ "rounds": 1 })).await?;
    assert_healthy(&host).await?;
    Ok((stage, host))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_at_once_are_all_answered() -> Result<()> {
    let stage = Stage::new()?.guests(&["time", "instance_state"])?;
    let host = stage.open().await?;
    let sleeping: Vec<_> = (0..1000)
        .map(|_| {
            let host = host.clone();
            // Asleep, so that they are there at one time.
            tokio::spawn(async move { text(&host, "time_sleep", json!({ "millis": 50 })).await })
        })
        .collect();
    let counting: Vec<_> = (0..1000)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { structured(&host, "instance_state", json!({})).await })
        })
        .collect();
    for call in sleeping {
        assert_eq!(call.await??, "slept 50 ms");
    }
    for call in counting {
        // Whoever had the place before left nothing there.
        assert_eq!(call.await??, json!({ "calls": 1 }));
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_place_is_told_so_and_served_when_one_is_free() -> Result<()> {
    let (_stage, host) = crowded().await?;
    let mut crowd = Crowd::gather(&host).await?;
    let options = CallOptions {
        timeout: Some(Duration::from_millis(200)),
        ..CallOptions::default()
    };
    let turned_away = host.call("time_stdin", "{}", options).await.outcome;
    let Outcome::Unavailable { reason, help } = &turned_away else {
        bail!("{turned_away:?}");
    };
    ensure!(reason.contains("256 other calls"), "{reason}");
    ensure!(reason.contains("0.2 s") && help.is_some(), "{reason}");

    let impatient = CancellationToken::new();
    let options = CallOptions {
        cancel: Some(impatient.clone()),
        ..CallOptions::default()
    };
    let waiting = {
        let host = host.clone();
        tokio::spawn(async move { host.call("time_stdin", "{}", options).await })
    };
    impatient.cancel();
    assert_eq!(waiting.await?.outcome, Outcome::Cancelled);

    let patient = {
        let host = host.clone();
        tokio::spawn(async move { text(&host, "time_stdin", json!({})).await })
    };
    crowd.one_leaves().await?;
    assert_eq!(patient.await??, "read 0 bytes");
    crowd.all_leave().await?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_says_how_long_it_waited_for_its_place_as_a_skill_does() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["time", "command"])?
        .entries("[tools.custom.time]\ntimeout_secs = 600");
    let host = stage.open().await?;
    for tool in ["time_stdin", "command"] {
        let at_once = host.call(tool, "{}", CallOptions::default()).await;
        ensure!(matches!(at_once.outcome, Outcome::Ok(_)), "{at_once:?}");
        let mut crowd = Crowd::gather(&host).await?;
        let mut call = Box::pin(host.call(tool, "{}", CallOptions::default()));
        // Its code is there: whatever keeps it is the crowd.
        let kept = tokio::time::timeout(Duration::from_secs(1), &mut call).await;
        ensure!(kept.is_err(), "there was a place: {kept:?}");
        crowd.one_leaves().await?;
        let report = call.await;
        ensure!(matches!(report.outcome, Outcome::Ok(_)), "{report:?}");
        ensure!(report.waited > at_once.waited, "{tool}: {report:?}");
        ensure!(report.waited <= report.duration, "{tool}: {report:?}");
        crowd.all_leave().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modules_too_large_for_a_place_run_beside_the_pool() -> Result<()> {
    let stage = Stage::new()?
        .module("five_memories", &fixtures::several_memories(4, 2)?)?
        .module("forty_memories", &fixtures::several_memories(39, 2)?)?
        .module("full_table", &fixtures::initial_table(190_000)?)?;
    // First compiled, then from the cache.
    for _ in 0..2 {
        let host = stage.open().await?;
        for tool in ["five_memories", "forty_memories", "full_table"] {
            for _ in 0..3 {
                let answer = structured(&host, tool, json!({})).await?;
                ensure!(answer == json!({ "answered": true }), "{tool}: {answer}");
            }
        }
        assert_healthy(&host).await?;
    }
    Ok(())
}

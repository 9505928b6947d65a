//! What a host tells those who subscribe: calls, snapshots, faults, configurations.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use futures::poll;
use prx_host::Host;
use prx_host::events::{CallBegan, CallEnded, Events, Heard, HostEvent};
use prx_host::model::{CallOptions, OutcomeKind};
use prx_tests::Stage;
use prx_tests::calls::call;
use serde_json::json;

/// Longer than anything here takes on the slowest machine.
const LONG: Duration = Duration::from_mins(2);

async fn next(events: &mut Events) -> Result<Arc<HostEvent>> {
    match tokio::time::timeout(LONG, events.next()).await? {
        Some(Heard::Event(event)) => Ok(event),
        other => bail!("{other:?}"),
    }
}

async fn began(events: &mut Events) -> Result<CallBegan> {
    match next(events).await?.as_ref() {
        HostEvent::CallBegan(began) => Ok(began.clone()),
        other => bail!("{other:?}"),
    }
}

async fn ended(events: &mut Events) -> Result<CallEnded> {
    match next(events).await?.as_ref() {
        HostEvent::CallEnded(ended) => Ok(ended.clone()),
        other => bail!("{other:?}"),
    }
}

#[tokio::test]
async fn each_call_is_told_when_it_begins_and_when_it_ends_and_nothing_of_what_was_said()
-> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    call(&host, "trivial", json!({ "text": "before" })).await;
    let mut events = host.events();
    let options = CallOptions {
        client: Some("a program".into()),
        waited: Duration::from_secs(3),
        ..CallOptions::default()
    };
    let arguments = json!({ "text": "s3cret" }).to_string();
    let report = host.call("trivial", &arguments, options).await;
    let (began, ended) = (began(&mut events).await?, ended(&mut events).await?);
    assert_eq!((began.call, ended.call), (2, 2));
    assert_eq!(began.argument_bytes, arguments.len() as u64);
    assert_eq!(ended.tool, "trivial");
    assert_eq!(ended.outcome, OutcomeKind::Ok);
    assert_eq!(ended.client.as_deref(), Some("a program"));
    assert_eq!(ended.duration, report.duration);
    assert_eq!(ended.waited, Duration::from_secs(3) + report.waited);
    assert_eq!(ended.snapshot, 1);
    let version = host
        .snapshot()
        .tool("trivial")
        .and_then(|tool| tool.entry().version());
    assert_eq!(ended.module, version);
    let text = report.outcome.ok().context("an answer")?.structured.clone();
    let structure = text.context("a structure")?.to_string().len() as u64;
    ensure!(ended.answer_bytes >= structure, "{ended:?}");
    for event in [HostEvent::CallBegan(began), HostEvent::CallEnded(ended)] {
        let line = serde_json::to_string(&event)?;
        ensure!(line.starts_with("{\"event\":\"call_"), "{line}");
        ensure!(!line.contains("s3cret"), "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn calls_that_go_wrong_are_told_with_how_they_went_wrong() -> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    let mut events = host.events();
    for (tool, arguments, outcome) in [
        (
            "trivial",
            json!({ "text": 7 }),
            OutcomeKind::InvalidArguments,
        ),
        ("trivia", json!({}), OutcomeKind::UnknownTool),
    ] {
        call(&host, tool, arguments).await;
        began(&mut events).await?;
        let ended = ended(&mut events).await?;
        assert_eq!((ended.tool.as_str(), ended.outcome), (tool, outcome));
    }
    // Whatever a client takes for a name is no line of a log.
    let odd = format!("a\n{}", "x".repeat(100_000));
    call(&host, &odd, json!({})).await;
    let told = began(&mut events).await?.tool;
    ensure!(told.len() < 100 && told.starts_with("a\\nx"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_caller_goes_away_ends_once_as_cancelled() -> Result<()> {
    let stage = Stage::new()?.guests(&["time"])?;
    let host = stage.open().await?;
    let tool = "time_poll";
    ensure!(host.snapshot().tool(tool).is_some());
    let mut events = host.events();
    {
        let mut running = std::pin::pin!(host.call(tool, "{}", CallOptions::default()));
        ensure!(poll!(&mut running).is_pending());
    }
    let (began, ended) = (began(&mut events).await?, ended(&mut events).await?);
    assert_eq!(began.call, ended.call);
    assert_eq!(ended.outcome, OutcomeKind::Cancelled);
    let counted = host
        .snapshot()
        .tool(tool)
        .map(|tool| tool.counters().outcomes());
    assert_eq!(counted, Some(vec![(OutcomeKind::Cancelled, 1)]));
    Ok(())
}

#[tokio::test]
async fn a_call_on_one_snapshot_is_heard_by_all_who_subscribed_and_the_end_of_the_host_too()
-> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    let (mut one, mut two) = (host.events(), host.events());
    call(&host, "trivial", json!({ "text": "a" })).await;
    drop(host);
    for events in [&mut one, &mut two] {
        began(events).await?;
        ended(events).await?;
        ensure!(tokio::time::timeout(LONG, events.next()).await?.is_none());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_and_is_mended_and_a_configuration_are_told_and_counted() -> Result<()> {
    let stage = Stage::new()?;
    let config = stage.write_config()?;
    let host: Host = stage.open().await?;
    let mut events = host.events();
    let file = stage.path("modules/trivial.wasm");
    let good = std::fs::read(&file)?;

    std::fs::write(&file, "no module")?;
    host.reload().await;
    let HostEvent::Snapshot(change) = next(&mut events).await?.as_ref().clone() else {
        bail!("no snapshot");
    };
    assert_eq!(change.snapshot, 2);
    let HostEvent::Broken(broken) = next(&mut events).await?.as_ref().clone() else {
        bail!("nothing broke");
    };
    assert_eq!(broken.name, "trivial");
    ensure!(broken.serving.is_some());
    assert_eq!((host.reloads().good, host.reloads().failed), (0, 1));

    std::fs::write(&file, good)?;
    host.reload().await;
    next(&mut events).await?;
    let HostEvent::Mended(mended) = next(&mut events).await?.as_ref().clone() else {
        bail!("nothing was mended");
    };
    assert_eq!((mended.name.as_str(), mended.snapshot), ("trivial", 3));
    assert_eq!((host.reloads().good, host.reloads().failed), (1, 1));

    let text = std::fs::read_to_string(&config)?;
    std::fs::write(&config, "[runtime\n")?;
    host.reload().await;
    host.reload().await;
    let HostEvent::ConfigurationRefused(refused) = next(&mut events).await?.as_ref().clone() else {
        bail!("it was not refused");
    };
    ensure!(refused.reason.contains("config.toml:1"), "{refused:?}");
    assert!(matches!(*next(&mut events).await?, HostEvent::Snapshot(_)));
    assert_eq!((host.reloads().good, host.reloads().failed), (1, 2));

    std::fs::write(&config, format!("{text}# more\n"))?;
    host.reload().await;
    let HostEvent::ConfigurationTaken(taken) = next(&mut events).await?.as_ref().clone() else {
        bail!("it was not taken");
    };
    assert_eq!(taken.file.as_deref(), Some(config.as_path()));
    ensure!(taken.version.is_some_and(|version| version.len() == 64));
    assert!(matches!(*next(&mut events).await?, HostEvent::Snapshot(_)));
    call(&host, "trivial", json!({ "text": "a" })).await;
    began(&mut events).await.context("nothing else was told")?;
    Ok(())
}

//! Calls in flight, and what is left when the last of them has ended.

use std::fs;
use std::sync::{Arc, Weak};

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, Event, EventSink, Outcome};
use prx_tests::{Stage, Versions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{TELL, assert_version, module, replace, stage};

const WAIT: &str = "skill_wait";

/// A stage whose skill waits at a gate.
fn gated() -> Result<(Stage, Versions)> {
    let (stage, versions) = stage()?;
    stage.folder("gate")?;
    Ok((
        stage.capabilities("filesystem_read = [\"gate::/gate\"]"),
        versions,
    ))
}

/// A call that waits at the gate, and is known to do so.
async fn waiting(host: &Host) -> Result<JoinHandle<Outcome>> {
    let (begun, host) = (Arc::new(Notify::new()), host.clone());
    let teller = Arc::clone(&begun);
    let events: EventSink = Arc::new(move |event: Event<'_>| {
        if matches!(event, Event::Log { .. }) {
            teller.notify_one();
        }
    });
    let options = CallOptions {
        events: Some(events),
        ..CallOptions::default()
    };
    let call = tokio::spawn(async move { host.call(WAIT, "{}", options).await.outcome });
    begun.notified().await;
    Ok(call)
}

async fn told(call: JoinHandle<Outcome>) -> Result<String> {
    match call.await? {
        Outcome::Ok(output) => Ok(output.text()),
        other => anyhow::bail!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_in_flight_end_on_their_version_and_its_memory_goes_with_the_last() -> Result<()> {
    let (stage, versions) = gated()?;
    let host = stage.open().await?;
    let old = {
        let snapshot = host.snapshot();
        let entry = snapshot.tool(TELL).context("it is there")?.entry();
        Arc::downgrade(entry.module().context("it is a module")?)
    };
    let calls = [waiting(&host).await?, waiting(&host).await?];
    replace(&module(&stage, "skill.wasm"), &versions.module(2))?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    ensure!(old.upgrade().is_some(), "it was taken from running calls");
    fs::write(stage.path("gate/open"), "")?;
    for call in calls {
        assert_eq!(told(call).await?, Versions::text(1));
    }
    ensure!(old.upgrade().is_none(), "somebody keeps the old module");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_versions_leave_one() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let mut old: Vec<Weak<_>> = Vec::new();
    for version in 2..102 {
        let snapshot = host.snapshot();
        let entry = snapshot.tool(TELL).context("it is there")?.entry();
        old.push(Arc::downgrade(entry.module().context("it is a module")?));
        replace(&module(&stage, "skill.wasm"), &versions.module(version))?;
        host.reload().await;
        assert_version(&host, TELL, version).await?;
    }
    ensure!(old.iter().all(|module| module.upgrade().is_none()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_go_on_with_the_next_version() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    assert_version(&host, TELL, 1).await?;
    replace(&module(&stage, "skill.wasm"), &versions.module(2))?;
    host.reload().await;
    assert_version(&host, TELL, 2).await?;
    let none = host
        .call(TELL, "[]", CallOptions::default())
        .await
        .outcome
        .kind();
    assert_eq!(none, prx_host::model::OutcomeKind::InvalidArguments);
    let snapshot = host.snapshot();
    let counts = snapshot
        .tool(TELL)
        .context("it is there")?
        .counters()
        .counts();
    assert_eq!((counts.calls, counts.failed, counts.running), (3, 1, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_dropped_is_followed_no_more_and_leaves_nothing() -> Result<()> {
    let (stage, _) = stage()?;
    let host = stage.open().await?;
    let module = {
        let snapshot = host.snapshot();
        let entry = snapshot.tool(TELL).context("it is there")?.entry();
        Arc::downgrade(entry.module().context("it is a module")?)
    };
    let watching = host.watch();
    let mut changes = host.changes();
    drop(host);
    // The follower lets go of the host after its look.
    while changes.changed().await.is_ok() {}
    ensure!(module.upgrade().is_none());
    drop(watching);
    Ok(())
}

//! Whether a host that has followed its files is where a fresh start would be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_host::{Change, Host, Snapshot};

/// How long a host may take to learn of a change by its events, on the slowest machine.
/// Less than the time after which it looks without one.
pub(super) const SOON: Duration = Duration::from_secs(25);

type Fault = (String, Option<PathBuf>, String);

/// The tools of a snapshot, each with its entry and its version.
fn tools(snapshot: &Snapshot) -> BTreeMap<&str, (&str, Option<String>)> {
    let named = snapshot.tools().map(|tool| {
        let entry = tool.entry();
        (tool.name(), (entry.name(), entry.version()))
    });
    named.collect()
}

fn faults(snapshot: &Snapshot) -> BTreeSet<Fault> {
    let broken = snapshot.broken().iter().cloned();
    broken
        .map(|broken| (broken.name, broken.module, broken.reason))
        .collect()
}

/// In what the two differ. A running host has, besides, the last good version of what is
/// broken now, and says so.
pub(super) fn disagreement(running: &Snapshot, fresh: &Snapshot) -> Option<String> {
    let (ours, theirs) = (faults(running), faults(fresh));
    if ours != theirs {
        return Some(format!("broken: {ours:?} and not {theirs:?}"));
    }
    let kept = running.broken().iter();
    let kept: BTreeSet<_> = kept
        .filter(|broken| broken.serving.is_some())
        .map(|broken| broken.name.as_str())
        .collect();
    let (ours, theirs) = (tools(running), tools(fresh));
    for (name, (entry, version)) in &ours {
        match theirs.get(name) {
            Some(other) if *other == (*entry, version.clone()) => {}
            None if kept.contains(entry) => {}
            other => return Some(format!("`{name}` is {entry} {version:?} and not {other:?}")),
        }
    }
    let lacks = theirs.keys().find(|name| !ours.contains_key(*name));
    lacks.map(|name| format!("`{name}` is not there"))
}

/// Waits until a host that follows its files is where a fresh one is, without anybody
/// telling it to look; then tells it, which must not change that.
pub(super) async fn assert_agrees(running: &Host, fresh: &Host) -> Result<()> {
    let fresh = fresh.snapshot();
    let mut changes = running.changes();
    let agrees = |_: &Arc<Change>| disagreement(&running.snapshot(), &fresh).is_none();
    if tokio::time::timeout(SOON, changes.wait_for(agrees))
        .await
        .is_err()
    {
        let reloaded = running.reload().await;
        let after = disagreement(&reloaded, &fresh);
        let before = disagreement(&running.snapshot(), &fresh);
        anyhow::bail!("it never came to be as a fresh start: {before:?}; when told: {after:?}");
    }
    let reloaded = running.reload().await;
    let differs = disagreement(&reloaded, &fresh);
    ensure!(differs.is_none(), "when told to look: {differs:?}");
    let again = running.reload().await;
    ensure!(Arc::ptr_eq(&again, &reloaded), "looking again is a change");
    Ok(())
}

/// Waits until the snapshot of a host is so.
pub(super) async fn until(
    host: &Host,
    what: &str,
    is_so: impl Fn(&Snapshot) -> bool,
) -> Result<()> {
    let mut changes = host.changes();
    let waited = tokio::time::timeout(SOON, changes.wait_for(|_| is_so(&host.snapshot()))).await;
    waited
        .with_context(|| {
            let snapshot = host.snapshot();
            let broken = snapshot.broken();
            format!(
                "not soon: {what}; there are {:?} and {broken:?}",
                tools(&snapshot)
            )
        })?
        .context("the host is gone")?;
    Ok(())
}

//! The contract of instances: each call has one of its own, and none leaves anything
//! behind in the next one or in the host.

use anyhow::{Result, ensure};
use prx_host::model::{CallOptions, OutcomeKind};
use prx_tests::calls::{assert_healthy, call, structured};
use prx_tests::process::{self, Held};
use prx_tests::{Stage, fixtures};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_has_an_instance_of_its_own() -> Result<()> {
    let stage = Stage::new()?.guests(&["instance_state"])?;
    let host = stage.open().await?;
    for _ in 0..5 {
        let count = structured(&host, "instance_state", json!({})).await?;
        assert_eq!(count, json!({ "calls": 1 }));
    }
    let at_once: Vec<_> = (0..16)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move { structured(&host, "instance_state", json!({})).await })
        })
        .collect();
    for count in at_once {
        assert_eq!(count.await??, json!({ "calls": 1 }));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_serves_after_a_trap_a_timeout_and_a_cancellation() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["time", "crashes", "memory"])?
        .entries("[tools.custom.memory]\nmax_memory_mb = 16");
    let host = stage.open().await?;
    for _ in 0..3 {
        let short = CallOptions {
            timeout: Some(std::time::Duration::from_millis(50)),
            ..CallOptions::default()
        };
        let report = host.call("time_spin", "{}", short).await;
        assert_eq!(report.outcome.kind(), OutcomeKind::TimedOut);
        structured(&host, "echo", json!({})).await?;
        let work = call(&host, "time_work", json!({ "rounds": 100 })).await;
        ensure!(work.ok().is_some(), "{work:?}");

        let crash = call(&host, "crashes_fault", json!({})).await;
        assert_eq!(crash.kind(), OutcomeKind::Trapped);
        let exit = call(&host, "crashes_exit", json!({ "code": 1 })).await;
        assert_eq!(exit.kind(), OutcomeKind::Trapped);

        let grown = call(&host, "memory_grow", json!({})).await;
        assert_eq!(grown.kind(), OutcomeKind::OutOfMemory);
        let held = call(&host, "memory_hold", json!({ "megabytes": 1 })).await;
        ensure!(held.ok().is_some(), "{held:?}");
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_leave_nothing_behind() -> Result<()> {
    if !process::is_alone(&a_thousand_calls_leave_nothing_behind)? {
        return Ok(());
    }
    let stage = Stage::new()?
        .guests(&["files", "crashes", "time", "recursion", "instance_state"])?
        .module("wild", &fixtures::wild_answer()?)?
        .capabilities("filesystem_write = [\"granted::/granted\"]\nmax_state_kb = 16")
        .entries("[tools.custom.time]\ntimeout_secs = 0.05");
    stage.folder("granted")?;
    let host = stage.open().await?;
    let round = async |number: u32| -> Result<()> {
        assert_healthy(&host).await?;
        let path = format!("/granted/{}", number % 10);
        let written = json!({ "path": path, "contents": "x" });
        let outcome = call(&host, "files_write", written).await;
        ensure!(outcome.ok().is_some(), "{outcome:?}");
        for (tool, kind) in [
            ("crashes_fault", OutcomeKind::Trapped),
            ("recursion_calls", OutcomeKind::Trapped),
            ("wild", OutcomeKind::Trapped),
            ("files_read", OutcomeKind::InvalidArguments),
        ] {
            let outcome = call(&host, tool, json!({})).await;
            ensure!(outcome.kind() == kind, "{tool}: {outcome:?}");
        }
        if number.is_multiple_of(10) {
            let outcome = call(&host, "time_sleep", json!({ "millis": 3_600_000 })).await;
            ensure!(outcome.kind() == OutcomeKind::TimedOut, "{outcome:?}");
            let dropped = host.call("time_spin", "{}", CallOptions::default());
            tokio::select! {
                biased;
                _ = dropped => {}
                () = tokio::task::yield_now() => {}
            }
        }
        let count = structured(&host, "instance_state", json!({})).await?;
        ensure!(count == json!({ "calls": 1 }), "{count}");
        Ok(())
    };
    // What is made once, and threads for blocking work, are there after a while.
    for number in 0..20 {
        round(number).await?;
    }
    let before = Held::now()?;
    for number in 0..130 {
        round(number).await?;
    }
    Held::assert_not_grown(before)
}

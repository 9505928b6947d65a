//! Modules that take long to compile: nobody waits for them who does not want them.

use std::fs;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, Outcome};
use prx_tests::Stage;
use prx_tests::calls::assert_healthy;

use super::watching::{LONG, served};
use super::{TELL, assert_version, fault, module, replace, stage};

/// A command with so much code that every machine compiles it for a while.
fn large() -> Result<Vec<u8>> {
    let code = "(drop (i32.popcnt (i32.const 1)))".repeat(1_000_000);
    Ok(wat::parse_str(format!(
        r#"(module (memory (export "memory") 1) (func (export "_start") {code}))"#
    ))?)
}

/// Waits until a tool is there.
async fn ready(host: &Host, tool: &str) -> Result<()> {
    let mut changes = host.changes();
    let waited = changes.wait_for(|_| host.snapshot().tool(tool).is_some());
    tokio::time::timeout(LONG, waited).await??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_can_open_before_its_modules_are_compiled() -> Result<()> {
    let stage = Stage::new()?.own_cache().module("large", &large()?)?;
    let builder = stage.host()?.wait_for_modules(Duration::ZERO);
    let host = Box::pin(builder.open()).await?;
    let reason = fault(&host.snapshot(), "large")?.reason;
    ensure!(reason.contains("being compiled"), "{reason}");
    match host
        .call("large", "{}", CallOptions::default())
        .await
        .outcome
    {
        Outcome::Unavailable { reason, help } => {
            ensure!(reason.contains("being compiled"), "{reason}");
            ensure!(help.is_some_and(|help| help.contains("again")));
        }
        other => bail!("{other:?}"),
    }
    let _watching = host.watch();
    for tool in ["large", "echo", "trivial"] {
        ready(&host, tool).await?;
    }
    assert_healthy(&host).await?;
    ensure!(host.snapshot().broken().is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_ready_is_not_kept_back_by_what_takes_long() -> Result<()> {
    let (stage, versions) = stage()?;
    let stage = stage.own_cache();
    let host = stage.open().await?;
    let _watching = host.watch();
    replace(&module(&stage, "large.wasm"), &large()?)?;
    let mut changes = host.changes();
    // A snapshot in which it is still on its way: which of two modules is compiled first
    // depends on the machine.
    let is_seen = |_: &std::sync::Arc<prx_host::Change>| fault(&host.snapshot(), "large").is_ok();
    tokio::time::timeout(LONG, changes.wait_for(is_seen)).await??;
    replace(&module(&stage, "skill.wasm"), &versions.module(2))?;
    served(&host, TELL, 2).await?;
    ready(&host, "large").await?;
    assert_version(&host, TELL, 2).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_while_it_is_compiled_is_loaded_again() -> Result<()> {
    let (stage, versions) = stage()?;
    let stage = stage.own_cache();
    let host = stage.open().await?;
    let _watching = host.watch();
    let file = module(&stage, "changing.wasm");
    replace(&file, &large()?)?;
    let mut changes = host.changes();
    let is_seen =
        |_: &std::sync::Arc<prx_host::Change>| fault(&host.snapshot(), "changing").is_ok();
    tokio::time::timeout(LONG, changes.wait_for(is_seen)).await??;
    replace(&file, &versions.module(3))?;
    served(&host, "changing_tell", 3).await?;
    fs::remove_file(&file)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_gone_serves_until_what_takes_its_name_is_compiled() -> Result<()> {
    let small =
        wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#)?;
    let stage = Stage::new()?.own_cache().module("twin", &small)?;
    let host = stage.open().await?;
    let version = |host: &Host| {
        let snapshot = host.snapshot();
        snapshot
            .tool("twin")
            .and_then(|tool| tool.entry().version())
    };
    let first = version(&host);
    ensure!(first.is_some());
    let _watching = host.watch();
    stage.folder("modules/twin")?;
    replace(&stage.path("modules/twin/skill.wasm"), &large()?)?;
    let mut changes = host.changes();
    let is_seen = |_: &std::sync::Arc<prx_host::Change>| fault(&host.snapshot(), "twin").is_ok();
    tokio::time::timeout(LONG, changes.wait_for(is_seen)).await??;
    fs::remove_file(module(&stage, "twin.wasm"))?;
    let served = async {
        while version(&host) == first || !host.snapshot().broken().is_empty() {
            let outcome = host
                .call("twin", "{}", CallOptions::default())
                .await
                .outcome;
            ensure!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
        }
        Ok(())
    };
    tokio::time::timeout(LONG, served).await??;
    ensure!(version(&host).is_some());
    Ok(())
}

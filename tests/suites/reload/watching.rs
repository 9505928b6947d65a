//! Following files without being asked: events, and looking again where there are none.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_host::{Change, Host};
use prx_tests::{Stage, Versions, process};

use super::{TELL, assert_version, module, replace, stage};

/// Longer than anything here takes on the slowest machine.
pub const LONG: Duration = Duration::from_mins(2);

/// Waits until a host serves this version.
pub async fn served(host: &Host, tool: &str, version: u32) -> Result<()> {
    let (mut changes, expected) = (host.changes(), Versions::text(version));
    let is_there = |_: &std::sync::Arc<Change>| {
        let snapshot = host.snapshot();
        let tool = snapshot.tool(tool);
        tool.is_some_and(|tool| tool.spec().description == expected)
    };
    let waited = tokio::time::timeout(LONG, changes.wait_for(is_there)).await;
    waited.with_context(|| format!("`{tool}` never came in version {version}"))??;
    assert_version(host, tool, version).await
}

/// Waits until a host has no such tool.
async fn gone(host: &Host, tool: &str) -> Result<()> {
    let mut changes = host.changes();
    let is_gone = |_: &std::sync::Arc<Change>| host.snapshot().tool(tool).is_none();
    let waited = tokio::time::timeout(LONG, changes.wait_for(is_gone)).await;
    waited.with_context(|| format!("`{tool}` never went"))??;
    Ok(())
}

/// All the ways in which a module comes to be another one.
async fn follow_everything(stage: &Stage, versions: &Versions, host: &Host) -> Result<()> {
    let (folder, file) = (stage.path("modules"), module(stage, "skill.wasm"));
    // Before anything is known to be watched.
    replace(&file, &versions.module(2))?;
    served(host, TELL, 2).await?;
    // In its place.
    fs::write(&file, versions.module(3))?;
    served(host, TELL, 3).await?;
    // Away and back.
    fs::remove_file(&file)?;
    gone(host, TELL).await?;
    fs::write(&file, versions.module(4))?;
    served(host, TELL, 4).await?;
    // In a folder of its own that is new.
    let own = stage.folder("modules/own")?;
    fs::write(own.join("skill.wasm"), versions.module(5))?;
    served(host, "own_tell", 5).await?;
    replace(&own.join("skill.wasm"), &versions.module(6))?;
    served(host, "own_tell", 6).await?;
    // The whole folder moved away, and another in its place.
    let next = stage.folder("next")?;
    fs::write(next.join("skill.wasm"), versions.module(7))?;
    fs::rename(&folder, stage.path("before"))?;
    fs::rename(&next, &folder)?;
    served(host, TELL, 7).await?;
    replace(&file, &versions.module(8))?;
    served(host, TELL, 8).await?;
    // The folder removed and made again.
    fs::remove_dir_all(&folder)?;
    gone(host, TELL).await?;
    fs::create_dir(&folder)?;
    fs::write(&file, versions.module(9))?;
    served(host, TELL, 9).await?;
    // Links that are swapped, as Kubernetes does it.
    for version in [10, 11, 12] {
        let data = stage.folder(&format!("modules/..{version}"))?;
        fs::write(data.join("skill.wasm"), versions.module(version))?;
        let (new, current) = (folder.join("..data_tmp"), folder.join("..data"));
        symlink(format!("..{version}"), &new)?;
        fs::rename(new, current)?;
        if version == 10 {
            symlink("..data/skill.wasm", folder.join("swap.tmp"))?;
            fs::rename(folder.join("swap.tmp"), &file)?;
        }
        served(host, TELL, version).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_tell_of_every_way_in_which_a_module_changes() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let _watching = host.watch();
    follow_everything(&stage, &versions, &host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_events_everything_is_found_by_looking() -> Result<()> {
    let (stage, versions) = stage()?;
    let stage = stage.runtime("reload = { method = \"poll\", poll_secs = 0.05 }");
    let host = stage.open().await?;
    let _watching = host.watch();
    follow_everything(&stage, &versions, &host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_configuration_is_followed_too() -> Result<()> {
    let (stage, _) = stage()?;
    stage.write_config()?;
    let host = stage.open().await?;
    let _watching = host.watch();
    let entry = "[tools.custom.more]\nmodule = \"skill.wasm\"\n";
    replace(
        &stage.path("config.toml"),
        (stage.text() + entry).as_bytes(),
    )?;
    served(&host, "more_tell", 1).await?;
    ensure!(host.snapshot().tool(TELL).is_none());
    stage.write_config()?;
    served(&host, TELL, 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_followed_when_the_configuration_says_so_or_nobody_watches() -> Result<()> {
    let (stage, versions) = stage()?;
    let stage = stage.runtime("reload = { method = \"off\" }");
    stage.write_config()?;
    let host = stage.open().await?;
    let watching = host.watch();
    replace(&module(&stage, "skill.wasm"), &versions.module(2))?;
    assert_version(&host, TELL, 1).await?;
    drop(watching);
    // It can be asked to look all the same.
    host.reload().await;
    assert_version(&host, TELL, 2).await
}

/// User namespaces have limits of their own, which whoever made one may lower.
#[test]
fn when_the_system_has_no_watches_left_everything_is_found_by_looking() -> Result<()> {
    if process::role().is_some() {
        return without_watches();
    }
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        let test = when_the_system_has_no_watches_left_everything_is_found_by_looking;
        let line = format!("echo 0 >/proc/sys/user/{limit} && exec \"$@\"");
        process::in_namespace(&test, limit.into(), &[], &line, &[])?;
    }
    Ok(())
}

fn without_watches() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (stage, versions) = stage()?;
        let stage = stage.runtime("reload = { poll_secs = 0.05 }");
        let host = stage.open().await?;
        let _watching = host.watch();
        follow_everything(&stage, &versions, &host).await
    })
}

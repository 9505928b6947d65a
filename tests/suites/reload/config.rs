//! The configuration file: the same rules as for modules, and what only a restart brings.

use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::{Host, Snapshot};
use prx_tests::calls::{assert_healthy, text};
use prx_tests::{Stage, Versions};
use serde_json::json;

use super::{TELL, assert_version, fault, replace, stage};

/// A host on a configuration that stands in its file.
async fn open(stage: &Stage) -> Result<Host> {
    stage.write_config()?;
    stage.open().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_goes_before_anybody_looks_is_missed() -> Result<()> {
    let (stage, _) = stage()?;
    let host = open(&stage).await?;
    fs::remove_file(stage.path("config.toml"))?;
    let gone = fault(&host.reload().await, "(configuration)")?;
    ensure!(gone.reason.contains("is gone"), "{gone:?}");
    assert_healthy(&host).await
}

/// Replaces the configuration and reloads.
async fn change(stage: &Stage, host: &Host, text: &str) -> Result<Arc<Snapshot>> {
    replace(&stage.path("config.toml"), text.as_bytes())?;
    Ok(host.reload().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_grants_and_limits_change_and_modules_stay_compiled() -> Result<()> {
    let (stage, _) = stage()?;
    let host = open(&stage).await?;
    let module = |snapshot: &Arc<Snapshot>, name: &str| {
        let entry = snapshot.tool(name).map(|tool| Arc::clone(tool.entry()));
        entry.and_then(|entry| entry.module().cloned())
    };
    let before = host.snapshot();
    let text = stage.text()
        + "[tools.custom.echo]\nmodule = \"echo.wasm\"\ntimeout_secs = 7\n\
           [tools.custom.line]\ntype = \"native\"\ncommand = \"printf\"\nargs = [\"%s\", \"{word}\"]\n";
    let after = change(&stage, &host, &text).await?;
    assert_eq!(after.number(), 2);
    for name in ["echo", "trivial", TELL] {
        let [old, new] = [&before, &after].map(|snapshot| module(snapshot, name));
        ensure!(
            old.zip(new)
                .is_some_and(|(old, new)| Arc::ptr_eq(&old, &new)),
            "{name}"
        );
    }
    let told = host.changes().borrow().clone();
    assert_eq!(told.added, ["line"]);
    assert_eq!(told.changed, ["echo"]);
    ensure!(told.removed.is_empty());
    let limit = &after
        .tool("echo")
        .context("it is there")?
        .entry()
        .limits()
        .timeout;
    assert_eq!(limit.value.as_secs(), 7);
    assert_eq!(host.config().tools.len(), 2);
    assert_healthy(&host).await?;
    // A line more moves all places and changes no tool.
    let moved = format!("# a line\n{text}");
    let after = change(&stage, &host, &moved).await?;
    ensure!(!host.changes().borrow().changes_tools());
    let place = after
        .tool("echo")
        .and_then(|tool| tool.entry().place().cloned());
    let line = moved.lines().position(|line| line == "[tools.custom.echo]");
    assert_eq!(place.map(|place| place.line), line.map(|line| line + 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_file_keeps_the_last_good_one_and_says_what_is_wrong() -> Result<()> {
    let (stage, _) = stage()?;
    let stage = stage.entries("[tools.custom.said]\nmodule = \"skill.wasm\"");
    let host = open(&stage).await?;
    let good = host.snapshot();
    ensure!(good.tool("said_tell").is_some());
    for (text, reason) in [
        ("[runtime\n", "config.toml:1"),
        ("runtime.wasm.time_out = 1\n", "time_out"),
        ("", "empty"),
        (
            "runtime.default_timeout_secs = \"long\"\n",
            "default_timeout_secs",
        ),
    ] {
        let snapshot = change(&stage, &host, text).await?;
        let fault = fault(&snapshot, "(configuration)")?;
        ensure!(fault.reason.contains(reason), "{reason}: {}", fault.reason);
        assert_eq!(fault.serving.context("none is in force")?.since.snapshot, 1);
        assert_version(&host, "said_tell", 1).await?;
    }
    fs::remove_file(stage.path("config.toml"))?;
    let fault = fault(&host.reload().await, "(configuration)")?;
    ensure!(fault.reason.contains("is gone"), "{}", fault.reason);
    assert_version(&host, "said_tell", 1).await?;
    let snapshot = change(&stage, &host, &stage.text()).await?;
    ensure!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    assert_version(&host, "said_tell", 1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_granted_no_more_is_gone_at_once_even_if_the_entry_breaks() -> Result<()> {
    let stage = Stage::new()?.guests(&["files"])?;
    fs::write(stage.folder("docs")?.join("a.txt"), "a")?;
    let entry = "[tools.custom.docs]\nmodule = \"files.wasm\"\n";
    let granted = "[tools.custom.docs.capabilities]\nfilesystem_read = [\"docs::/docs\"]\n";
    let stage = stage.entries(entry);
    let host = open(&stage).await?;
    let with = format!("{}{granted}", stage.text());
    change(&stage, &host, &with).await?;
    let read = json!({ "path": "/docs/a.txt" });
    assert_eq!(text(&host, "docs_read", read.clone()).await?, "a");
    // The entry can not be made, since its secret is not there: the old one would still
    // have the folder.
    let broken = stage.text() + "config.key = { file = \"/no/such/file\" }\n";
    let snapshot = change(&stage, &host, &broken).await?;
    ensure!(snapshot.tool("docs_read").is_none());
    ensure!(fault(&snapshot, "docs")?.serving.is_none());
    change(&stage, &host, &stage.text()).await?;
    ensure!(text(&host, "docs_read", read).await.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_module_folder_can_be_another_one() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = open(&stage).await?;
    let other = stage.folder("others")?;
    fs::write(other.join("skill.wasm"), versions.module(9))?;
    let text = stage
        .text()
        .replace("module_path = \"modules\"", "module_path = \"others\"");
    let snapshot = change(&stage, &host, &text).await?;
    ensure!(snapshot.tool("echo").is_none());
    assert_version(&host, TELL, 9).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_a_restart_is_named() -> Result<()> {
    let (stage, _) = stage()?;
    let host = open(&stage).await?;
    let text = stage
        .text()
        .replace("state_path = \"state\"", "state_path = \"elsewhere\"");
    change(&stage, &host, &text).await?;
    let told = host.changes().borrow().needs_restart.clone();
    ensure!(
        told.len() == 1 && told[0].contains("runtime.wasm.state_path"),
        "{told:?}"
    );
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_read_where_it_appears_only_if_somebody_said_where() -> Result<()> {
    let stage = Stage::new()?;
    let environment = Environment::new(stage.root()).with("HOME", stage.root());
    let config =
        Config::default_with(&environment).map_err(|faults| anyhow::anyhow!("{faults}"))?;
    let file = stage.path("config.toml");
    let open = async |file: Option<&std::path::Path>| {
        let builder = Host::builder(config.config.clone()).environment(environment.clone());
        let builder = match file {
            Some(file) => builder.config_file(file),
            None => builder,
        };
        Box::pin(builder.open()).await
    };
    let (told, not_told) = (open(Some(&file)).await?, open(None).await?);
    stage.write_config()?;
    ensure!(told.reload().await.tool("echo").is_some());
    ensure!(not_told.reload().await.tool("echo").is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_only_looks_as_if_it_came_from_a_file_is_not_missed() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    fs::write(stage.path("modules/skill.wasm"), versions.module(2))?;
    ensure!(host.reload().await.broken().is_empty());
    assert_version(&host, TELL, 2).await?;
    assert_eq!(Versions::text(2), text(&host, TELL, json!({})).await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_written_over_and_over_is_never_read_by_half() -> Result<()> {
    let (stage, _) = stage()?;
    // Cut anywhere before its end, it is a configuration without the last tool.
    let lines = "# a comment\n".repeat(2000);
    let stage = stage.entries(&format!(
        "{lines}[tools.custom.last]\nmodule = \"echo.wasm\"\n"
    ));
    let host = open(&stage).await?;
    let (text, file) = (stage.text(), stage.path("config.toml"));
    let writing = std::thread::spawn(move || {
        (0..3000).try_for_each(|turn| fs::write(&file, format!("# {turn}\n{text}")))
    });
    while !writing.is_finished() {
        let snapshot = host.reload().await;
        ensure!(snapshot.tool("last").is_some(), "{:?}", snapshot.broken());
    }
    writing.join().expect("it does not panic")?;
    ensure!(host.reload().await.broken().is_empty());
    Ok(())
}

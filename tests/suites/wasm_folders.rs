//! Granted folders that are not there, or not granted at all: the host says which, goes
//! on, and never makes one.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Result, bail, ensure};
use prx_host::Host;
use prx_host::model::Outcome;
use prx_tests::Stage;
use prx_tests::calls::{call, structured, text};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_grant_there_are_no_files_and_the_hint_says_so() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["files"])?
        .entries("[tools.custom.some]\nmodule = \"files.wasm\"\n[tools.custom.some.capabilities]\nfilesystem_read = [\"docs::/docs\"]")
        .entries("[tools.custom.none]\nmodule = \"files.wasm\"");
    fs::write(stage.folder("docs")?.join("a.txt"), "a")?;
    let host = stage.open().await?;
    for (tool, hint) in [
        ("none_read", "no folder is granted"),
        ("some_read", "`/docs`"),
    ] {
        for name in ["/etc/passwd", "a.txt", "/"] {
            match call(&host, tool, json!({ "path": name })).await {
                Outcome::ToolError(error) => {
                    let said = error.hint.unwrap_or_default();
                    ensure!(
                        said.contains(hint),
                        "{tool} {name}: {said} ({})",
                        error.message
                    );
                }
                other => bail!("{tool} {name}: {other:?}"),
            }
        }
    }
    assert_eq!(
        text(&host, "some_read", json!({ "path": "/docs/a.txt" })).await?,
        "a"
    );
    Ok(())
}

async fn assert_missing(host: &Host, stage: &Stage, line: &str) -> Result<()> {
    let outcome = call(host, "files_list", json!({ "path": "/later" })).await;
    let Outcome::Unavailable { reason, help } = outcome else {
        bail!("{outcome:?}");
    };
    let help = help.unwrap_or_default();
    for part in [stage.path("later").display().to_string().as_str(), "/later"] {
        ensure!(reason.contains(part), "{part} is not in: {reason}");
    }
    let place = stage.place_of(line)?;
    for part in ["runtime.wasm.capabilities.filesystem_write", place.as_str()] {
        ensure!(
            help.contains(part) || reason.contains(part),
            "{part}: {reason}; {help}"
        );
    }
    assert_healthy_without_grants(host).await
}

/// Every entry has the missing folder; what lives is the host.
async fn assert_healthy_without_grants(host: &Host) -> Result<()> {
    let outcome = call(host, "pure", json!({ "a": 1 })).await;
    ensure!(outcome.ok().is_some(), "{outcome:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_folder_may_be_missing_vanish_and_come_back() -> Result<()> {
    let line = "filesystem_write = [\"later::/later\"]";
    let stage = Stage::new()?.guests(&["files"])?.capabilities(line).entries(
        "[tools.custom.pure]\nmodule = \"echo.wasm\"\n[tools.custom.pure.capabilities]\nfilesystem_write = []",
    );
    let later = stage.path("later");
    let host = stage.open().await?;
    assert_missing(&host, &stage, line).await?;
    assert!(!later.exists(), "nobody creates it");

    fs::create_dir(&later)?;
    fs::write(later.join("a.txt"), "a")?;
    let listed = structured(&host, "files_list", json!({ "path": "/later" })).await?;
    assert_eq!(listed, json!({ "names": ["a.txt"] }));

    fs::remove_dir_all(&later)?;
    assert_missing(&host, &stage, line).await?;
    assert!(!later.exists());

    fs::write(&later, "now a file")?;
    assert_missing(&host, &stage, line).await?;
    fs::remove_file(&later)?;

    symlink("nowhere", &later)?;
    assert_missing(&host, &stage, line).await?;
    fs::remove_file(&later)?;

    fs::create_dir(&later)?;
    let listed = structured(&host, "files_list", json!({ "path": "/later" })).await?;
    assert_eq!(listed, json!({ "names": [] }));
    Ok(())
}

//! Names: of files, entries and tools. What can be a tool's name is one, what can not is
//! told, and of two claims to a name the same one always wins.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::OpenError;
use prx_host::model::{Outcome, OutcomeKind};
use prx_tests::calls::{assert_healthy, broken, call, structured, text};
use prx_tests::{Stage, guest};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_name_can_be_no_tools_is_told_and_others_serve() -> Result<()> {
    let bytes = fs::read(guest("echo")?)?;
    let long = "n".repeat(65);
    let longer = "n".repeat(200);
    let mut stage = Stage::new()?;
    for stem in [
        "two words",
        "a.b",
        "a::b",
        "gr\u{fc}\u{df}e",
        "new\nline",
        "semi;colon",
        "",
        &long,
        &longer,
    ] {
        stage = stage.module(stem, &bytes)?;
    }
    let fitting = "n".repeat(64);
    for stem in ["a-b", "a_b", "A_b", "1st", "-", "_x", fitting.as_str()] {
        stage = stage.module(stem, &bytes)?;
    }
    let host = stage.open().await?;
    for shown in [
        "two words",
        "a.b",
        "a::b",
        "new\\nline",
        "semi;colon",
        &long,
        &longer,
    ] {
        let reason = broken(&host, shown)?;
        ensure!(
            reason.contains("can not be a tool's name"),
            "{shown}: {reason}"
        );
    }
    // A file called `.wasm` is hidden.
    assert_eq!(
        host.snapshot().broken().len(),
        8,
        "{:?}",
        host.snapshot().broken()
    );
    for broken in host.snapshot().broken() {
        assert!(broken.help.is_some() && broken.module.is_some());
    }
    for tool in ["a-b", "a_b", "A_b", "1st", "-", "_x", fitting.as_str()] {
        let outcome = call(&host, tool, json!({ "a": 1 })).await;
        ensure!(outcome.ok().is_some(), "{tool}: {outcome:?}");
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_gives_a_module_another_name() -> Result<()> {
    let stage = Stage::new()?
        .module("some file", &fs::read(guest("instance_state")?)?)?
        .entries("[tools.custom.counter]\nmodule = \"some file.wasm\"");
    let absolute = stage.path("elsewhere.wasm");
    fs::copy(guest("instance_state")?, &absolute)?;
    let stage = stage.entries(&format!(
        "[tools.custom.far]\nmodule = {:?}",
        absolute.display().to_string()
    ));
    let host = stage.open().await?;
    assert_eq!(host.snapshot().broken(), []);
    for tool in ["counter", "far"] {
        let count = structured(&host, tool, json!({})).await?;
        assert_eq!(count, json!({ "calls": 1 }));
    }
    assert_eq!(host.snapshot().tools().len(), 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disabled_entry_is_no_tool_and_its_module_none_either() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["instance_state", "time"])?
        .entries("[tools.custom.instance_state]\nmodule = \"instance_state.wasm\"\nenabled = false")
        .entries("[tools.custom.clock]\nmodule = \"time.wasm\"\nenabled = false");
    let host = stage.open().await?;
    for tool in ["instance_state", "clock_spin", "time_spin"] {
        let outcome = call(&host, tool, json!({})).await;
        ensure!(
            outcome.kind() == OutcomeKind::UnknownTool,
            "{tool}: {outcome:?}"
        );
    }
    assert_eq!(host.snapshot().broken(), []);
    assert_eq!(host.snapshot().tools().len(), 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_entries_of_one_module_have_grants_of_their_own() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["files"])?
        .entries("[tools.custom.first]\nmodule = \"files.wasm\"\n[tools.custom.first.capabilities]\nfilesystem_read = [\"one::/it\"]")
        .entries("[tools.custom.second]\nmodule = \"files.wasm\"\n[tools.custom.second.capabilities]\nfilesystem_write = [\"two::/it\"]");
    fs::write(stage.folder("one")?.join("a.txt"), "one")?;
    fs::write(stage.folder("two")?.join("a.txt"), "two")?;
    let host = stage.open().await?;
    let file = json!({ "path": "/it/a.txt" });
    assert_eq!(text(&host, "first_read", file.clone()).await?, "one");
    assert_eq!(text(&host, "second_read", file).await?, "two");
    let written = json!({ "path": "/it/a.txt", "contents": "new" });
    let outcome = call(&host, "first_write", written.clone()).await;
    ensure!(outcome.ok().is_none(), "{outcome:?}");
    text(&host, "second_write", written).await?;
    assert_eq!(fs::read_to_string(stage.path("one/a.txt"))?, "one");
    assert_eq!(fs::read_to_string(stage.path("two/a.txt"))?, "new");
    // The module is named, so its file stem is no tool.
    let outcome = call(&host, "files_read", json!({ "path": "/it/a.txt" })).await;
    assert_eq!(outcome.kind(), OutcomeKind::UnknownTool);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_claims_to_a_name_the_first_by_name_wins() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["files"])?
        .module("files_read", &fs::read(guest("echo")?)?)?
        .module("taken", &fs::read(guest("echo")?)?)?
        .entries("[tools.custom.taken]\nmodule = \"trivial.wasm\"");
    for _ in 0..3 {
        let host = stage.open().await?;
        // `files` comes before `files_read`, and offers a tool of that name.
        let outcome = call(&host, "files_read", json!({ "path": "/x" })).await;
        ensure!(outcome.kind() == OutcomeKind::ToolError, "{outcome:?}");
        let faults: Vec<_> = host.snapshot().broken().to_vec();
        let clash = faults.iter().find(|fault| fault.name == "files_read");
        let clash = clash.context("the clash is not told")?;
        ensure!(
            clash.reason.contains("`files` has a tool of this name"),
            "{clash:?}"
        );
        ensure!(clash.help.is_some(), "{clash:?}");
        // What the operator wrote wins over what lies in the folder.
        let sum = structured(&host, "taken", json!({ "text": "a" })).await?;
        assert_eq!(sum, json!({ "characters": 1, "sum": 0 }));
        let taken = faults.iter().find(|fault| fault.name == "taken");
        let taken = taken.context("the clash is not told")?;
        ensure!(
            taken.reason.contains("`taken` is taken by the entry for"),
            "{taken:?}"
        );
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_whose_whole_name_is_too_long_is_told_and_its_siblings_serve() -> Result<()> {
    let name = "e".repeat(58);
    let stage = Stage::new()?
        .guests(&["time"])?
        .entries(&format!("[tools.custom.{name}]\nmodule = \"time.wasm\""));
    let host = stage.open().await?;
    // `_stdin` makes 64, `_poll_again` makes 69.
    assert_eq!(
        text(&host, &format!("{name}_stdin"), json!({})).await?,
        "read 0 bytes"
    );
    let reason = broken_reasons(&host, &name);
    assert_eq!(reason.len(), 1, "{reason:?}");
    for part in ["poll_again", "69 of at most 64"] {
        ensure!(reason[0].contains(part), "{reason:?}");
    }
    Ok(())
}

fn broken_reasons(host: &prx_host::Host, name: &str) -> Vec<String> {
    let snapshot = host.snapshot();
    let named = snapshot
        .broken()
        .iter()
        .filter(|broken| broken.name == name);
    named.map(|broken| broken.reason.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_tool_is_told_the_nearest_name() -> Result<()> {
    let stage = Stage::new()?.guests(&["time"])?;
    let host = stage.open().await?;
    for (asked, nearest) in [
        ("ehco", Some("echo")),
        ("Trivial", Some("trivial")),
        ("time-sleep", Some("time_sleep")),
        ("zzzz", None),
        ("", None),
    ] {
        let outcome = call(&host, asked, json!({})).await;
        let expected = Outcome::UnknownTool {
            name: asked.to_owned(),
            nearest: nearest.map(str::to_owned),
        };
        assert_eq!(outcome, expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_whose_module_is_missing_is_told_with_its_place() -> Result<()> {
    let header = "[tools.custom.gone]";
    let stage = Stage::new()?.entries(&format!("{header}\nmodule = \"gone.wasm\""));
    let host = stage.open().await?;
    let snapshot = host.snapshot();
    let [gone] = snapshot.broken() else {
        bail!("{:?}", snapshot.broken());
    };
    assert_eq!(gone.name, "gone");
    assert_eq!(
        gone.place.as_deref(),
        Some(stage.place_of(header)?.as_str())
    );
    let outcome = call(&host, "gone", json!({})).await;
    ensure!(outcome.kind() == OutcomeKind::Unavailable, "{outcome:?}");
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_is_not_built_in_is_refused_with_its_key() -> Result<()> {
    let line = "engine = \"wasmer\"";
    let stage = Stage::new()?.wasm(line);
    match stage.host()?.open().await {
        Err(OpenError::Runtime(error)) => {
            let said = format!("{error}; {}", error.help().unwrap_or_default());
            for part in ["runtime.wasm.engine", "wasmtime", &stage.place_of(line)?] {
                ensure!(said.contains(part), "{said}");
            }
            Ok(())
        }
        Err(error) => bail!("{error}"),
        Ok(_) => bail!("it opened"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_for_one_tool_loads_nothing_else() -> Result<()> {
    let stage = Stage::new()?.guests(&["time", "lies_no_tools"])?;
    let host = stage.host()?.only("time_stdin").open().await?;
    assert_eq!(text(&host, "time_stdin", json!({})).await?, "read 0 bytes");
    assert_eq!(host.snapshot().broken(), []);
    assert!(host.snapshot().tool("echo").is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_entry_of_one_broken_module_is_told_what_is_wrong_with_it() -> Result<()> {
    let host = Stage::new()?
        .module("page", b"<!doctype html>")?
        .entries(
            "[tools.custom.first]\nmodule = \"page.wasm\"\n\
             [tools.custom.second]\nmodule = \"page.wasm\"\n",
        )
        .open()
        .await?;
    for entry in ["first", "second"] {
        let reason = broken(&host, entry)?;
        ensure!(reason.contains("HTML"), "{entry}: {reason}");
    }
    assert_healthy(&host).await
}

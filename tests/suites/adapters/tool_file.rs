//! One tool file on every backend: the tools stay what they are.

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::Host;
use prx_host::config::Backend;
use prx_host::model::{Outcome, ToolErrorKind};
use prx_tests::calls::{call, text};
use prx_tests::{Stage, containers};
use serde_json::json;

const TOOLS: &str = r#"
    [tools.custom.sorted]
    command = "sort"
    args = ["{reverse?-r}", "{unique?-u}"]
    stdin = "{text}"
    env = { LC_ALL = "C" }
    [tools.custom.sorted.parameters]
    text = { type = "string", required = true }
    reverse = { type = "boolean", default = false }
    unique = { type = "boolean", default = false }
    [tools.custom.mistaken]
    command = "sort"
    args = ["--no-such-option"]
"#;

/// A host whose commands run on that backend. There is a program `sort` on this machine,
/// one in the image, and a module of that name.
async fn host(backend: &str, socket: &str) -> Result<(Stage, Host)> {
    let stage = Stage::new()?.guests(&["sort"])?;
    let workspace = stage.folder("workspace")?.display().to_string();
    let image = containers::image()?;
    let stage = stage
        .variable("PATH", "/usr/bin:/bin")
        .runtime(&format!("backend = {backend:?}\nworkspace = {workspace:?}"))
        .entries(&format!(
            "[runtime.docker]\nsocket = {socket:?}\nimage = {image:?}\n{TOOLS}"
        ));
    let host = stage.host()?.open().await?;
    Ok((stage, host))
}

async fn answers(backend: &str, socket: &str, runs_on: Backend) -> Result<()> {
    let (_stage, host) = host(backend, socket).await?;
    let snapshot = host.snapshot();
    ensure!(snapshot.broken().is_empty(), "{:?}", snapshot.broken());
    let tool = snapshot.tool("sorted").context("there is no tool")?;
    assert_eq!(tool.entry().backend(), runs_on, "{backend}");
    let lines = "b\na\n-r\na b\na\n\u{fc}\n";
    for (arguments, expected) in [
        (json!({ "text": lines }), "-r\na\na\na b\nb\n\u{fc}\n"),
        (
            json!({ "text": lines, "reverse": true }),
            "\u{fc}\nb\na b\na\na\n-r\n",
        ),
        (
            json!({ "text": lines, "reverse": true, "unique": true }),
            "\u{fc}\nb\na b\na\n-r\n",
        ),
        (json!({ "text": "" }), ""),
    ] {
        assert_eq!(
            text(&host, "sorted", arguments).await?,
            expected,
            "{backend}"
        );
    }
    match call(&host, "mistaken", json!({})).await {
        Outcome::ToolError(error) => {
            assert_eq!(error.kind, ToolErrorKind::Failed);
            ensure!(
                error.message.contains("option"),
                "{backend}: {}",
                error.message
            );
            Ok(())
        }
        other => bail!("{backend}: {other:?}"),
    }
}

fn socket() -> Result<String> {
    Ok(containers::socket()?.display().to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_this_machine() -> Result<()> {
    answers("native", &socket()?, Backend::Native).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_containers() -> Result<()> {
    answers("docker", &socket()?, Backend::Docker).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_a_module() -> Result<()> {
    answers("wasm", &socket()?, Backend::Wasm).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_containers_where_an_engine_answers() -> Result<()> {
    answers("auto", &socket()?, Backend::Docker).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_a_module_where_no_engine_answers() -> Result<()> {
    answers("auto", "/no/such/engine.sock", Backend::Wasm).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_this_machine_where_neither_engine_nor_module_is_there() -> Result<()> {
    let (stage, _) = host("auto", "/no/such/engine.sock").await?;
    std::fs::remove_file(stage.path("modules/sort.wasm"))?;
    let host = stage.host()?.open().await?;
    let snapshot = host.snapshot();
    let tool = snapshot.tool("sorted").context("there is no tool")?;
    assert_eq!(tool.entry().backend(), Backend::Native);
    assert_eq!(
        text(&host, "sorted", json!({ "text": "b\na\n" })).await?,
        "a\nb\n"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_is_not_there_is_told_with_a_remedy() -> Result<()> {
    let (_stage, host) = host("docker", "/no/such/engine.sock").await?;
    let Outcome::Unavailable { reason, help } = call(&host, "sorted", json!({ "text": "" })).await
    else {
        bail!("there is no engine");
    };
    ensure!(
        reason.contains("/no/such/engine.sock") && help.is_some(),
        "{reason}: {help:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn native_commands_whose_sandbox_is_a_container_run_in_one() -> Result<()> {
    let stage = Stage::new()?;
    let workspace = stage.folder("workspace")?.display().to_string();
    let (socket, image) = (socket()?, containers::image()?);
    let stage = stage
        .runtime(&format!("backend = \"native\"\nworkspace = {workspace:?}"))
        .entries(&format!(
            "[runtime.docker]\nsocket = {socket:?}\nimage = \"not-this-one\"\n\
             [security.sandbox]\nbackend = \"docker\"\n\
             [security.sandbox.docker]\nimage = {image:?}\n\
             [tools.custom.where]\ncommand = \"test -e /.dockerenv && pwd\"\n"
        ));
    let host = stage.host()?.open().await?;
    assert_eq!(text(&host, "where", json!({})).await?, "/workspace\n");
    Ok(())
}

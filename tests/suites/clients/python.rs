//! The official Python SDK as a client: over standard streams and HTTP, in its own era and
//! in that of sessions.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Served, Stage, program, workspace};
use serde_json::{Value, json};

use crate::fetched;
use crate::fixture::{self, PIXEL};

/// Runs the client on a stage. `target` says how it reaches the host.
fn run(stage: &Stage, mode: &str, target: &Value) -> Result<Value> {
    let mut given = json!({
        "mode": mode,
        "home": stage.root(),
        "complaints": stage.path("complaints"),
        "spare": stage.path("spare/spare.wasm"),
        "place": stage.path("modules/spare.wasm"),
    });
    let target = target.as_object().cloned().context("an object")?;
    given.as_object_mut().context("an object")?.extend(target);
    let script = workspace().join("tests/suites/clients/client.py");
    let ended = fetched::python(&script, stage.root())?
        .arg(given.to_string())
        .stdin(Stdio::null())
        .output()?;
    let complaints = std::fs::read_to_string(stage.path("complaints")).unwrap_or_default();
    ensure!(
        ended.status.success(),
        "the client failed: {}\nthe host said: {complaints}",
        String::from_utf8_lossy(&ended.stderr)
    );
    Ok(serde_json::from_slice(&ended.stdout)?)
}

fn over_streams(mode: &str) -> Result<Value> {
    let stage = fixture::stage()?;
    let config = stage.write_config()?;
    let command = json!([program()?, "--config", config, "serve"]);
    let got = run(&stage, mode, &json!({ "command": command }))?;
    let line = got["cancelled"].as_str().unwrap_or_default();
    ensure!(line.contains("outcome=\"cancelled\""), "{line}");
    Ok(got)
}

fn over_http(mode: &str) -> Result<Value> {
    let stage = fixture::stage()?;
    let mut served = Served::start(&stage, &[])?;
    let url = format!("http://{}/mcp", served.address);
    let got = run(&stage, mode, &json!({ "url": url }))?;
    assert_eq!(
        got["cancelled"],
        r#"prx_host_calls_total{tool="skill_wait",outcome="cancelled"} 1"#
    );
    assert_eq!(served.end()?, Some(0));
    Ok(got)
}

/// A message or a content that is a text.
fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// What is the same on each way and in each era.
fn is_right(got: &Value, protocol: &str) -> Result<()> {
    assert_eq!(got["protocol"], protocol);
    assert_eq!(got["server"], "prx-host");
    let tools = got["tools"].as_array().context("a list")?;
    for tool in ["echo", "json_schema_2020_12_tool", "skill_tell", "trivial"] {
        ensure!(tools.contains(&json!(tool)), "{tools:?}");
    }
    answers_are_right(got)?;
    reads_are_right(got)?;
    let progress = json!([[0.0, 100.0], [50.0, 100.0], [100.0, 100.0]]);
    assert_eq!(got["progress"], progress);
    let messages = json!([
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed"
    ]);
    assert_eq!(got["messages"], messages);
    assert_eq!(got["changed"], json!(["spare"]));
    let after = &got["after"]["structuredContent"];
    assert_eq!(*after, json!({ "still": "here" }));
    Ok(())
}

fn answers_are_right(got: &Value) -> Result<()> {
    let only = |result: &Value, content: Value, failed: bool| {
        assert_eq!(result["content"], json!([content]), "{result}");
        assert_eq!(result["isError"].as_bool().unwrap_or(false), failed);
    };
    let said = "This is a simple text response for testing.";
    only(&got["text"], text(said), false);
    let said = r#"{"characters":3,"sum":42}"#;
    only(&got["structure"], text(said), false);
    let structure = &got["structure"]["structuredContent"];
    assert_eq!(*structure, json!({ "characters": 3, "sum": 42 }));
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    only(&got["image"], image, false);
    let said = "This tool intentionally returns an error for testing";
    only(&got["error"], text(said), true);
    let said = "The arguments do not fit `trivial`:\n- /text: 7 is not of type \"string\"";
    only(&got["mistake"], text(said), true);
    assert_eq!(got["unknown"]["code"], -32602);
    let said = got["unknown"]["message"].as_str().unwrap_or_default();
    ensure!(said.contains("did you mean `test_simple_text`?"), "{said}");
    Ok(())
}

fn reads_are_right(got: &Value) -> Result<()> {
    let uris = got["resources"].as_array().context("a list")?;
    for uri in ["test://static-text", "test://handbook/first.md"] {
        ensure!(uris.contains(&json!(uri)), "{uris:?}");
    }
    assert_eq!(got["templates"], json!(["test://template/{id}/data"]));
    let contents = json!([{
        "uri": "test://template/7/data",
        "mimeType": "application/json",
        "text": r#"{"id":"7","templateTest":true,"data":"Data for ID: 7"}"#,
    }]);
    assert_eq!(got["resource"]["contents"], contents);
    assert_eq!(got["prompts"], json!(fixture::PROMPTS));
    let content = text("Prompt with arguments: arg1='one', arg2='two'");
    let messages = json!([{ "role": "user", "content": content }]);
    assert_eq!(got["prompt"]["messages"], messages);
    Ok(())
}

#[test]
fn the_python_sdk_is_served_over_streams_in_its_own_era() -> Result<()> {
    is_right(&over_streams("auto")?, "2026-07-28")
}

#[test]
fn the_python_sdk_is_served_over_streams_in_a_session() -> Result<()> {
    is_right(&over_streams("legacy")?, "2025-11-25")
}

#[test]
fn the_python_sdk_is_served_over_http_in_its_own_era() -> Result<()> {
    is_right(&over_http("auto")?, "2026-07-28")
}

#[test]
fn the_python_sdk_is_served_over_http_in_a_session() -> Result<()> {
    is_right(&over_http("legacy")?, "2025-11-25")
}

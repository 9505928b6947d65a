//! Calls that stand alone go a shorter way than others: nobody can tell by the answer.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use prx_tests::served::Served;
use prx_tests::{Stage, Versions, about_itself};
use serde_json::{Value, json};

use crate::client::{Client, Era, server};

/// What makes a call want more than its answer, which it then may not get, either.
const LISTENS: &str = "io.modelcontextprotocol/logLevel";

fn stage() -> Result<Stage> {
    let stage = Stage::new()?
        .guests(&["contents", "crashes"])?
        .module("skill", &Versions::new()?.module(1))?
        .entries("[tools.custom.said]\ncommand = \"sleep 0.2; echo said\"\n");
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

/// Calls of every outcome that comes back.
fn calls() -> Vec<Value> {
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    vec![
        call("echo", json!({ "a": [1, { "b": "h\u{e9}" }] })),
        call("contents_image", json!({})),
        call("crashes_panic", json!({ "message": "oh no" })),
        call("trivial", json!({ "numbers": "x" })),
        call("ehco", json!({})),
        call("said", json!({})),
        json!({ "name": "echo" }),
    ]
}

fn with_meta(mut call: Value, meta: Value) -> Value {
    call["_meta"] = meta;
    call
}

#[test]
fn what_it_is_answered_over_standard_streams_is_the_same() -> Result<()> {
    let stage = stage()?;
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    client.wait_for_tool("crashes_panic")?;
    client.wait_for_tool("echo")?;
    for call in calls() {
        let alone = client.ask("tools/call", call.clone())?;
        for meta in [
            json!({ LISTENS: "emergency" }),
            json!({ "progressToken": 7 }),
        ] {
            let heard = client.ask("tools/call", with_meta(call.clone(), meta))?;
            assert_eq!(alone, heard, "{call}");
        }
    }
    Ok(())
}

#[test]
fn what_it_is_answered_over_http_is_the_same() -> Result<()> {
    let stage = stage()?;
    let served = Served::start(&stage, &[])?.ready()?;
    for call in calls() {
        let alone = served.request("tools/call", call.clone(), &[])?;
        // It needs no stream.
        assert_eq!(alone.header("content-type"), Some("application/json"));
        for meta in [
            json!({ LISTENS: "emergency" }),
            json!({ "progressToken": 7 }),
        ] {
            let heard = with_meta(call.clone(), meta);
            let heard = served.request("tools/call", heard, &[])?;
            assert_eq!(alone.status, heard.status);
            assert_eq!(alone.message()?, heard.message()?, "{call}");
        }
    }
    Ok(())
}

#[test]
fn headers_that_say_something_else_are_refused_as_ever() -> Result<()> {
    let stage = stage()?;
    let served = Served::start(&stage, &[])?.ready()?;
    let call = || json!({ "name": "echo", "arguments": {} });
    for (name, value) in [("Mcp-Name", "trivial"), ("Mcp-Method", "tools/list")] {
        // A second value, which must not hide behind the first one.
        let answer = served.request("tools/call", call(), &[(name, value)])?;
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
    }
    let mut params = call();
    params["_meta"] = about_itself().into();
    let answer = served.ask("tools/call", params, &[])?;
    assert_eq!(answer.status, 400, "no headers: {answer:?}");
    Ok(())
}

#[test]
fn many_at_once_run_beside_each_other_and_each_has_its_answer() -> Result<()> {
    let stage = stage()?;
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    client.wait_for_tool("skill_wait")?;
    client.wait_for_tool("echo")?;
    // The first ones wait for a gate that is opened when all others are answered.
    for _ in 0..4 {
        client.begin(
            "tools/call",
            json!({ "name": "skill_wait", "arguments": {} }),
        )?;
    }
    let mut numbers = BTreeMap::new();
    for number in 0..200 {
        let echo = json!({ "name": "echo", "arguments": { "number": number } });
        numbers.insert(client.begin("tools/call", echo)?, number);
    }
    while !numbers.is_empty() {
        let answer = client.next()?;
        let id = answer["id"].as_u64().context("an answer")?;
        let number = numbers.remove(&id).context("one that waits")?;
        assert_eq!(answer["result"]["structuredContent"]["number"], number);
    }
    std::fs::write(stage.path("gate/open"), "")?;
    for _ in 0..4 {
        let answer = client.next()?;
        assert_eq!(answer["result"]["content"][0]["text"], Versions::text(1));
    }
    Ok(())
}

#[test]
fn an_id_that_is_free_again_after_a_cancel_has_the_answer_of_its_new_call() -> Result<()> {
    let stage = stage()?;
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    client.wait_for_tool("skill_wait")?;
    client.wait_for_tool("echo")?;
    let call = |tool: &str, number: u64| {
        let arguments = json!({ "number": number });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": about_itself() });
        json!({ "jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": params })
    };
    for number in 0..50 {
        client.send_raw(format!("{}\n", call("skill_wait", number)).as_bytes())?;
        // The id is taken.
        client.send_raw(format!("{}\n", call("echo", number)).as_bytes())?;
        assert_eq!(client.next()?["error"]["code"], -32600);
        client.notify("notifications/cancelled", json!({ "requestId": "mine" }))?;
        client.send_raw(format!("{}\n", call("echo", number)).as_bytes())?;
        let answer = client.next()?;
        assert_eq!(answer["id"], "mine");
        assert_eq!(
            answer["result"]["structuredContent"]["number"], number,
            "{answer}"
        );
    }
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn one_that_is_all_that_is_said_is_answered_though_the_input_has_ended() -> Result<()> {
    let stage = stage()?;
    let mut client = Client::silent(Era::Stateless, server(&stage, &[])?)?;
    let id = client.begin("tools/call", json!({ "name": "said", "arguments": {} }))?;
    client.hang_up();
    let answer = client.answer(id)?;
    let text = answer["result"]["content"][0]["text"].as_str();
    ensure!(text == Some("said\n"), "{answer}");
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

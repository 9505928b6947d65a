//! How calls and servers end: by the client's word, by its going away, and by garbage.

use anyhow::{Context as _, Result};
use prx_tests::{Stage, Versions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::client::{Client, ERAS, Era, server};

/// A stage with a tool that waits at a gate which nobody opens.
fn waiting() -> Result<Stage> {
    let stage = Stage::new()?.module("skill", &Versions::new()?.module(1))?;
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

#[test]
fn a_call_that_is_cancelled_ends_and_others_go_on() -> Result<()> {
    let stage = waiting()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("skill_wait")?;
        let call = client.begin(
            "tools/call",
            json!({ "name": "skill_wait", "arguments": {} }),
        )?;
        client.notify("notifications/cancelled", json!({ "requestId": call }))?;
        let told = client.call("skill_tell", json!({}))?;
        assert_eq!(told["content"][0]["text"], Versions::text(1));
        // Nothing runs any more that would keep the server.
        assert_eq!(client.end()?, Some(0));
    }
    Ok(())
}

#[test]
fn a_client_that_goes_away_ends_the_server_and_its_calls() -> Result<()> {
    let stage = waiting()?;
    for era in ERAS {
        // Before a word was said.
        let mut silent = Client::silent(era, server(&stage, &[])?)?;
        assert_eq!(silent.end()?, Some(0));
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("skill_wait")?;
        client.begin(
            "tools/call",
            json!({ "name": "skill_wait", "arguments": {} }),
        )?;
        assert_eq!(client.end()?, Some(0));
    }
    Ok(())
}

#[test]
fn a_signal_ends_it_well() -> Result<()> {
    let stage = waiting()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("skill_wait")?;
    client.begin(
        "tools/call",
        json!({ "name": "skill_wait", "arguments": {} }),
    )?;
    let pid = Pid::from_raw(i32::try_from(client.process())?).context("a process has an id")?;
    kill_process(pid, Signal::TERM)?;
    // The input stays open until it has ended.
    while client.next().is_ok() {}
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn garbage_between_messages_is_survived() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    for garbage in [
        &b"\n"[..],
        b"no json\n",
        b"[1, 2\n",
        b"\xff\xfe\n",
        b"{}\n",
        b"null\n",
    ] {
        client.send_raw(garbage)?;
        let id = client.begin(
            "tools/call",
            json!({ "name": "echo", "arguments": { "a": 1 } }),
        )?;
        let answer = client.answer(id)?;
        assert_eq!(answer["result"]["structuredContent"]["a"], 1);
    }
    Ok(())
}

#[test]
fn what_a_guest_prints_is_no_message_of_the_server() -> Result<()> {
    let stage = Stage::new()?.guests(&["output"])?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("output_flood_both")?;
    // Each line that comes is read as a message: what is none fails.
    client.call("output_flood_both", json!({ "megabytes": 1 }))?;
    let echoed = client.call("echo", json!({ "a": 1 }))?;
    assert_eq!(echoed["structuredContent"]["a"], 1);
    Ok(())
}

//! Two clients of one server, and a module that changes between their calls.

use std::fs;
use std::io::BufReader;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, Versions};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era};
use prx_tests::served::{Answer, Line, Served, read_until};

const CHANGED: &str = "notifications/tools/list_changed";

fn stage(versions: &Versions) -> Result<Stage> {
    let stage = Stage::new()?.module("skill", &versions.module(1))?;
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

fn replace(stage: &Stage, bytes: &[u8]) -> Result<()> {
    fs::write(stage.path("new"), bytes)?;
    Ok(fs::rename(
        stage.path("new"),
        stage.path("modules/skill.wasm"),
    )?)
}

/// What a call of the skill told.
fn told(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn over_standard_streams_each_client_hears_once_and_old_calls_end_as_they_began() -> Result<()> {
    let versions = Versions::new()?;
    let stage = stage(&versions)?;
    // Each has a host of its own, on the same files.
    let mut clients = Vec::new();
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        if era == Era::Stateless {
            let wanted = json!({ "notifications": { "toolsListChanged": true } });
            client.begin("subscriptions/listen", wanted)?;
            client.hear("notifications/subscriptions/acknowledged")?;
        }
        client.wait_for_tool("skill_wait")?;
        let called = json!({ "name": "skill_wait", "arguments": {} });
        let call = client.begin("tools/call", called)?;
        // It is behind the call, and answered on the same version.
        let told = client.call("skill_tell", json!({}))?;
        assert_eq!(told["content"][0]["text"], Versions::text(1));
        client.heard(CHANGED);
        clients.push((client, call));
    }
    // A garbage module and a touched file change no tool; the third does.
    replace(&stage, b"no module")?;
    replace(&stage, &versions.module(2))?;
    for (client, _) in &mut clients {
        client.hear(CHANGED)?;
        let told = client.call("skill_tell", json!({}))?;
        assert_eq!(told["content"][0]["text"], Versions::text(2));
    }
    fs::write(stage.path("gate/open"), "")?;
    for (client, call) in &mut clients {
        let answer = client.answer(*call)?;
        assert_eq!(told(&answer), Versions::text(1));
        // What came is in order: a second word would have come before this.
        client.call("skill_tell", json!({}))?;
        assert!(client.heard(CHANGED).is_empty());
    }
    Ok(())
}

#[test]
fn over_http_each_client_hears_once_and_old_calls_end_as_they_began() -> Result<()> {
    let versions = Versions::new()?;
    let stage = stage(&versions)?;
    let served = Served::start(&stage, &[])?.ready()?;
    let sessions = [served.session()?, served.session()?];
    let mut news: Vec<BufReader<Box<dyn Line>>> = Vec::new();
    for session in &sessions {
        news.push(session.listen(&served)?);
    }
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let listening = served.begin_request("subscriptions/listen", wanted, &[])?;
    let mut listening = BufReader::new(listening);
    read_until(&mut listening, "acknowledged")?;
    news.push(listening);

    let mut calls = Vec::new();
    let wait = json!({ "name": "skill_wait", "arguments": {} });
    calls.push(served.begin_request("tools/call", wait.clone(), &[])?);
    for session in &sessions {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": wait });
        calls.push(served.begin_in(session, &call.to_string())?);
    }
    served.wait_for("prx_host_running_calls", |running| running == 3)?;

    replace(&stage, &versions.module(2))?;
    for stream in &mut news {
        read_until(stream, CHANGED)?;
    }
    let tell = json!({ "name": "skill_tell", "arguments": {} });
    let answer = served.request("tools/call", tell, &[])?.message()?;
    assert_eq!(told(&answer), Versions::text(2));
    fs::write(stage.path("gate/open"), "")?;
    for call in &mut calls {
        let answer = Answer::read(&mut **call)?.message()?;
        assert_eq!(told(&answer), Versions::text(1), "{answer}");
    }
    // The next change is the next that they hear of: there was one word for one change.
    replace(&stage, &versions.module(3))?;
    for stream in &mut news {
        read_until(stream, CHANGED)?;
    }
    drop(served);
    for stream in &mut news {
        let more = read_until(stream, CHANGED);
        ensure!(more.is_err(), "{}", more.context("a third word")?);
    }
    Ok(())
}

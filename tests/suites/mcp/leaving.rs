//! The end of a server over HTTP, whatever its clients do at that moment.

use std::io::{BufReader, Read as _, Write as _};
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_host::mcp::HttpOptions;
use prx_tests::{Stage, Versions};
use serde_json::json;

use prx_tests::served::{Answer, Served, read_until};

fn stage() -> Result<Stage> {
    let stage = Stage::new()?.module("skill", &Versions::new()?.module(1))?;
    stage.folder("gate")?;
    Ok(stage.capabilities("filesystem_read = [\"gate::/gate\"]"))
}

#[test]
fn calls_that_run_finish_and_nothing_new_begins() -> Result<()> {
    let stage = stage()?;
    let mut served = Served::start(&stage, &[])?.ready()?;
    let wait = json!({ "name": "skill_wait", "arguments": {} });
    let mut call = served.begin_request("tools/call", wait, &[])?;
    served.wait_for("prx_host_running_calls", |running| running == 1)?;
    served.ask_to_end()?;
    while served.connect().is_ok() {}
    std::fs::write(stage.path("gate/open"), "")?;
    let answer = Answer::read(&mut *call)?.message()?;
    assert_eq!(answer["result"]["content"][0]["text"], Versions::text(1));
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

#[test]
fn calls_that_do_not_finish_are_ended_and_answered() -> Result<()> {
    let stage = stage()?;
    let soon = |http: &mut HttpOptions| http.last_calls = Duration::from_secs(3);
    let mut served = Served::inside(&stage, |_, http| soon(http))?.ready()?;
    let wait = json!({ "name": "skill_wait", "arguments": {} });
    let mut call = served.begin_request("tools/call", wait, &[])?;
    served.wait_for("prx_host_running_calls", |running| running == 1)?;
    served.ask_to_end()?;
    let answer = Answer::read(&mut *call)?.message()?;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

#[test]
fn streams_that_wait_for_news_end() -> Result<()> {
    let stage = stage()?;
    let mut served = Served::start(&stage, &[])?.ready()?;
    let session = served.session()?;
    let mut stream = session.listen(&served)?;
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let listening = served.begin_request("subscriptions/listen", wanted, &[])?;
    let mut listening = BufReader::new(listening);
    read_until(&mut listening, "acknowledged")?;
    let mut silent = served.connect()?;
    assert_eq!(served.end()?, Some(0));
    ensure!(read_until(&mut stream, "no such text").is_err());
    listening.read_to_end(&mut Vec::new())?;
    let _ = silent.read_to_end(&mut Vec::new());
    Ok(())
}

#[test]
fn who_does_not_read_its_answer_keeps_no_server() -> Result<()> {
    let stage = Stage::new()?;
    let mut served = Served::start(&stage, &[])?.ready()?;
    // Requests that follow each other on one connection, and no answer is read.
    let mut line = served.connect()?;
    let session = served.session()?;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let request = served.text(&session, &message);
    line.write_all(request.repeat(200).as_bytes())?;
    served.assert_healthy()?;
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

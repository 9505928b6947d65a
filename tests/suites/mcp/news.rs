//! What a server says without being asked: changes of the tools, progress, messages.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, Versions};
use serde_json::json;

use crate::client::{Client, ERAS, Era};

#[test]
fn clients_hear_of_each_snapshot_that_changes_their_tools() -> Result<()> {
    let versions = Versions::new()?;
    for era in ERAS {
        let stage = Stage::new()?.module("skill", &versions.module(1))?;
        let mut client = Client::start(era, &stage, &[])?;
        if era == Era::Stateless {
            client.begin(
                "subscriptions/listen",
                json!({ "notifications": { "toolsListChanged": true } }),
            )?;
            client.hear("notifications/subscriptions/acknowledged")?;
        }
        client.wait_for_tool("skill_tell")?;
        client.heard("notifications/tools/list_changed");
        let file = stage.path("modules/skill.wasm");
        fs::write(stage.path("new"), versions.module(2))?;
        fs::rename(stage.path("new"), file)?;
        client.hear("notifications/tools/list_changed")?;
        let told = client.call("skill_tell", json!({}))?;
        assert_eq!(told["content"][0]["text"], Versions::text(2));
    }
    Ok(())
}

#[test]
fn progress_comes_in_order_to_who_asked_for_it() -> Result<()> {
    let stage = Stage::new()?.guests(&["log_progress"])?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("log_progress_fractions")?;
        client.request(
            "tools/call",
            json!({
                "name": "log_progress_fractions",
                "arguments": {},
                "_meta": { "progressToken": "p" },
            }),
        )?;
        let told = client.heard("notifications/progress");
        let done: Vec<f64> = told
            .iter()
            .filter_map(|told| told["params"]["progress"].as_f64())
            .collect();
        ensure!(
            done.len() >= 2 && done.is_sorted_by(|a, b| a < b),
            "{told:?}"
        );
        ensure!(
            told.iter()
                .all(|told| told["params"]["progressToken"] == "p")
        );
        client.call("log_progress_fractions", json!({}))?;
        ensure!(client.heard("notifications/progress").is_empty());
    }
    Ok(())
}

#[test]
fn messages_come_at_the_level_that_is_wanted() -> Result<()> {
    let stage = Stage::new()?.guests(&["log_progress"])?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("log_progress_log")?;
    for (level, count) in [("debug", 5), ("warning", 2), ("emergency", 0)] {
        client.request("logging/setLevel", json!({ "level": level }))?;
        client.call("log_progress_log", json!({}))?;
        let told = client.heard("notifications/message");
        assert_eq!(told.len(), count, "{level}: {told:?}");
    }
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    client.wait_for_tool("log_progress_log")?;
    client.call("log_progress_log", json!({}))?;
    ensure!(client.heard("notifications/message").is_empty());
    client.request(
        "tools/call",
        json!({
            "name": "log_progress_log",
            "arguments": {},
            "_meta": { "io.modelcontextprotocol/logLevel": "error" },
        }),
    )?;
    let told = client.heard("notifications/message");
    assert_eq!(told.len(), 1, "{told:?}");
    let data = &told.first().context("one")?["params"]["data"];
    ensure!(data["message"].is_string(), "{data}");
    Ok(())
}

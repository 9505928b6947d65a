//! Which tools a client sees, and how.

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, Versions};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era};

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn tools_have_all_that_a_client_wants_to_know() -> Result<()> {
    let stage = Stage::new()?.guests(&["hints"])?;
    stage.write_config()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let echo = client.wait_for_tool("echo")?;
        assert_eq!(echo["description"], "Gives its arguments back.");
        assert_eq!(echo["inputSchema"]["type"], "object");
        ensure!(echo["inputSchema"]["properties"].is_object());
        ensure!(echo["annotations"].is_object());
    }
    Ok(())
}

#[test]
fn a_list_can_be_narrowed_and_what_is_hidden_can_not_be_called() -> Result<()> {
    let stage = Stage::new()?.module("skill", &Versions::new()?.module(1))?;
    let mut client = Client::start(
        Era::Sessions,
        &stage,
        &["--tools", "skill_*", "--tools", "echo", "--deny", "*_wait"],
    )?;
    client.wait_for_tool("skill_tell")?;
    let listed = client.request("tools/list", json!({}))?;
    assert_eq!(names(&listed), ["echo", "skill_tell"]);
    for hidden in ["skill_wait", "trivial", "nothing"] {
        let refused = client.ask("tools/call", json!({ "name": hidden, "arguments": {} }))?;
        let error = refused.err().context("it was called")?;
        assert_eq!(error["code"], -32602, "{error}");
    }
    let refused = client.ask(
        "tools/call",
        json!({ "name": "skill_tel", "arguments": {} }),
    )?;
    let error = refused.err().context("it was called")?;
    let text = error["message"].as_str().unwrap_or_default();
    ensure!(text.contains("`skill_tell`"), "{error}");
    Ok(())
}

#[test]
fn a_grant_to_write_makes_a_tool_no_read_only_one_whatever_it_says() -> Result<()> {
    let entries = "[tools.custom.harmless]\nmodule = \"hints.wasm\"\n\
        [tools.custom.writing]\nmodule = \"hints.wasm\"\n\
        [tools.custom.writing.capabilities]\nfilesystem_write = [\".::/all\"]\n";
    let stage = Stage::new()?.guests(&["hints"])?.entries(entries);
    let mut client = Client::start(Era::Sessions, &stage, &["--read-only"])?;
    client.wait_for_tool("harmless_harmless")?;
    let listed = client.request("tools/list", json!({}))?;
    ensure!(
        names(&listed)
            .iter()
            .all(|name| !name.starts_with("writing")),
        "{listed}"
    );
    Ok(())
}

#[test]
fn a_cursor_of_somebody_else_is_refused() -> Result<()> {
    let stage = Stage::new()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let refused = client.ask("tools/list", json!({ "cursor": "x" }))?;
        assert_eq!(refused.err().context("it was taken")?["code"], -32602);
    }
    Ok(())
}

#[test]
fn schemas_are_the_authors_own_and_what_contradicts_itself_is_mended() -> Result<()> {
    let stage = Stage::new()?.guests(&["hard_on_clients"])?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let choose = client.wait_for_tool("hard_on_clients_choose")?;
        let schema = &choose["inputSchema"];
        assert_eq!(schema["properties"]["place"]["$ref"], "#/$defs/place");
        assert_eq!(schema["anyOf"][0]["required"][0], "id");
        ensure!(schema["$schema"].is_string() && schema["$defs"].is_object());
        let other = client.wait_for_tool("hard_on_clients_a_name_without_room_in_front")?;
        assert_eq!(other["inputSchema"]["properties"], json!({}));
        assert_eq!(other["annotations"]["readOnlyHint"], false);
        assert_eq!(other["annotations"]["destructiveHint"], true);
        // What is left out for other clients holds for every call all the same.
        let wrong = client.call("hard_on_clients_choose", json!({ "place": "here" }))?;
        assert_eq!(wrong["isError"], true, "{wrong}");
        let right = client.call("hard_on_clients_choose", json!({ "id": 1 }))?;
        assert_eq!(right["isError"], false, "{right}");
    }
    Ok(())
}

#[test]
fn what_is_hidden_is_not_there_though_it_is_broken() -> Result<()> {
    let stage = Stage::new()?.module("late", b"no module")?;
    for arguments in [
        &["--deny", "late"][..],
        &["--tools", "echo"],
        &["--read-only"],
    ] {
        let mut client = Client::start(Era::Stateless, &stage, arguments)?;
        let call = json!({ "name": "late", "arguments": {} });
        let refused = client.ask("tools/call", call)?.expect_err("it is hidden");
        assert_eq!(refused["code"], -32602, "{refused}");
        let said = refused["message"].as_str().unwrap_or_default();
        ensure!(said.starts_with("unknown tool"), "{said}");
    }
    // Whom it is not hidden from is told what is wrong with it.
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    let told = client.call("late", json!({}))?;
    ensure!(told["isError"] == true, "{told}");
    Ok(())
}

#[test]
fn read_only_holds_behind_resources_too() -> Result<()> {
    let stage = Stage::new()?.entries(
        "[serve.resources.echo]\ntool = \"echo\"\nuri = \"echo://it\"\narguments = { text = \"x\" }\n",
    );
    let read = json!({ "uri": "echo://it" });
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    client.wait_for_tool("echo")?;
    client.request("resources/read", read.clone())?;
    let mut client = Client::start(Era::Stateless, &stage, &["--read-only"])?;
    let refused = client
        .ask("resources/read", read)?
        .expect_err("it may change something");
    ensure!(
        refused["message"].to_string().contains("changes nothing"),
        "{refused}"
    );
    Ok(())
}

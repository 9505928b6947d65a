//! What registers this host with clients, and tools in the forms in which models are told
//! of them.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::place::Place;

#[test]
fn each_client_gets_a_block_with_absolute_paths() -> Result<()> {
    let place = Place::new("")?;
    let config = place.path("config.toml");
    let config = config.to_str().context("a path")?;
    for (client, pointer) in [
        ("claude-desktop", "/mcpServers/mine"),
        ("claude-code", "/mcpServers/mine"),
        ("cursor", "/mcpServers/mine"),
        ("vscode", "/servers/mine"),
        ("zed", "/context_servers/mine"),
    ] {
        let printed = place.run(&[
            "mcp-config",
            "--client",
            client,
            "--name",
            "mine",
            "--",
            "--read-only",
        ])?;
        let block = printed.json()?;
        let server = block.pointer(pointer).context(client)?;
        let program = server["command"].as_str().context("a program")?;
        ensure!(std::path::Path::new(program).is_absolute(), "{program}");
        let expected = serde_json::json!(["--config", config, "serve", "--read-only"]);
        assert_eq!(server["args"], expected, "{client}");
        ensure!(
            printed.stderr().starts_with("# for "),
            "{}",
            printed.stderr()
        );
    }
    let codex = place.run(&["mcp-config", "--client", "codex"])?.stdout();
    ensure!(codex.contains("[mcp_servers.prx-host]"), "{codex}");
    ensure!(codex.contains(config), "{codex}");
    Ok(())
}

#[test]
fn tools_are_told_of_in_the_form_that_is_asked_for() -> Result<()> {
    let place = Place::with_guests(&["trivial"], "")?;
    let listed = |format: &str| -> Result<Value> {
        let listed = place.run(&["list", "--format", format])?.json()?;
        Ok(listed.get(0).context("a tool")?.clone())
    };
    let openai = listed("openai")?;
    assert_eq!(openai["type"], "function");
    assert_eq!(openai["function"]["name"], "trivial");
    assert_eq!(openai["function"]["parameters"]["required"][0], "text");
    let anthropic = listed("anthropic")?;
    assert_eq!(anthropic["name"], "trivial");
    assert_eq!(anthropic["input_schema"]["type"], "object");
    let mcp = listed("mcp")?;
    assert_eq!(mcp["inputSchema"], anthropic["input_schema"]);
    ensure!(mcp["annotations"].is_object());
    Ok(())
}

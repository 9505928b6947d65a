//! The official inspector's command line as a client: over standard streams, as the block
//! registers them that `prx-host mcp-config` prints, and over HTTP; in both eras.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Served, Stage, program};
use serde_json::{Value, json};

use crate::fetched;
use crate::fixture::{self, PIXEL};

/// The eras, as the inspector calls them.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// How the inspector reaches a host.
struct Inspector<'a> {
    stage: &'a Stage,
    target: Vec<String>,
    era: &'static str,
}

impl Inspector<'_> {
    /// What it prints when it uses a method, and whether it is content.
    fn ask(&self, method: &str, arguments: &[&str]) -> Result<(Value, bool)> {
        let script = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let ended = fetched::node(script, self.stage.root())?
            .arg("--cli")
            .args(&self.target)
            .args(["--format", "json", "--quiet", "--protocol-era", self.era])
            // Longer than anything here takes on the slowest machine.
            .args(["--connect-timeout", "120000", "--method", method])
            .args(arguments)
            .stdin(Stdio::null())
            .output()?;
        let printed: Value = serde_json::from_slice(&ended.stdout)
            .with_context(|| format!("{method} in the era `{}`: {ended:?}", self.era))?;
        Ok((printed["result"].clone(), ended.status.success()))
    }

    fn call(&self, tool: &str, arguments: &[&str]) -> Result<(Value, bool)> {
        let mut all = vec!["--tool-name", tool];
        for argument in arguments {
            all.extend(["--tool-arg", argument]);
        }
        self.ask("tools/call", &all)
    }

    fn is_right(&self) -> Result<()> {
        let (listed, _) = self.ask("tools/list", &[])?;
        let tools = listed["tools"].as_array().context("a list")?;
        let named = |name: &str| tools.iter().find(|tool| tool["name"] == name);
        let header = named("test_custom_header").context("it is listed")?;
        assert_eq!(
            header["description"],
            "Gives a value back that clients also send as a header."
        );
        assert_eq!(header["inputSchema"]["required"], json!(["value"]));
        assert_eq!(header["annotations"]["readOnlyHint"], true);
        let trigger = named("test_trigger_tool_change").context("it is listed")?;
        ensure!(trigger["annotations"]["readOnlyHint"] != true, "{trigger}");

        let said = "as it was given";
        let (answer, content) = self.call("test_custom_header", &[&format!("value={said}")])?;
        ensure!(content, "{answer}");
        let text = json!([{ "type": "text", "text": said }]);
        assert_eq!(answer["content"], text);
        let (answer, _) = self.call("trivial", &["text=abc", "numbers=[2, 40]"])?;
        let structure = json!({ "characters": 3, "sum": 42 });
        assert_eq!(answer["structuredContent"], structure);
        let (answer, _) = self.call("test_image_content", &[])?;
        let image = json!([{ "type": "image", "data": PIXEL, "mimeType": "image/png" }]);
        assert_eq!(answer["content"], image);
        // A tool's own no is a result, and the inspector ends accordingly.
        let (answer, content) = self.call("test_error_handling", &[])?;
        ensure!(!content && answer["isError"] == true, "{answer}");
        self.reads()
    }

    fn reads(&self) -> Result<()> {
        let (listed, _) = self.ask("resources/list", &[])?;
        let resources = listed["resources"].as_array().context("a list")?;
        let find = |uri: &str| resources.iter().find(|resource| resource["uri"] == uri);
        for uri in ["test://static-text", "test://static-binary"] {
            find(uri).with_context(|| format!("{uri} is not in {listed}"))?;
        }
        let page = find("test://handbook/first.md").context("it is listed")?;
        assert_eq!(page["mimeType"], "text/markdown");
        let uri = ["--uri", "test://handbook/first.md"];
        let (read, _) = self.ask("resources/read", &uri)?;
        assert_eq!(read["contents"][0]["text"], "# First\n");

        let (listed, _) = self.ask("prompts/list", &[])?;
        let prompts = listed["prompts"].as_array().context("a list")?;
        let names: Vec<_> = prompts.iter().map(|prompt| &prompt["name"]).collect();
        assert_eq!(names, fixture::PROMPTS);
        let mut prompts = prompts.iter();
        let prompt = prompts.find(|prompt| prompt["name"] == "test_prompt_with_arguments");
        let arguments = &prompt.context("it is listed")?["arguments"];
        assert_eq!(arguments[0]["name"], "arg1");
        assert_eq!(arguments[0]["required"], true);
        Ok(())
    }
}

#[test]
fn the_inspector_is_served_over_streams_as_it_is_told_to_register() -> Result<()> {
    let stage = fixture::stage()?;
    let config = stage.write_config()?;
    let block = Command::new(program()?)
        .arg("--config")
        .arg(config)
        .args(["mcp-config", "--client", "claude-desktop"])
        .output()?;
    ensure!(block.status.success(), "{block:?}");
    let file = stage.path("clients.json");
    fs::write(&file, block.stdout)?;
    let file = file.display().to_string();
    for era in ERAS {
        let target = ["--config", &file, "--server", "prx-host"];
        Inspector {
            stage: &stage,
            target: target.map(str::to_owned).into(),
            era,
        }
        .is_right()?;
    }
    Ok(())
}

#[test]
fn the_inspector_is_served_over_http() -> Result<()> {
    let stage = fixture::stage()?;
    let mut served = Served::start(&stage, &[])?.ready()?;
    for era in ERAS {
        let url = format!("http://{}/mcp", served.address);
        Inspector {
            stage: &stage,
            target: vec!["--server-url".to_owned(), url],
            era,
        }
        .is_right()?;
    }
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

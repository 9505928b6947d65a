//! Calls: what comes back, and what a model can mend.

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use serde_json::json;

use crate::client::{Client, ERAS, Era, server};

#[test]
fn structure_comes_with_its_text_and_pictures_as_they_are() -> Result<()> {
    let stage = Stage::new()?.guests(&["contents"])?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("contents_image")?;
        let echoed = client.call("echo", json!({ "text": "h\u{e9}" }))?;
        assert_eq!(echoed["structuredContent"], json!({ "text": "h\u{e9}" }));
        let text = echoed["content"][0]["text"].as_str().context("a text")?;
        assert_eq!(text, r#"{"text":"hé"}"#);
        assert_eq!(echoed["content"].as_array().map(Vec::len), Some(1));
        let image = client.call("contents_image", json!({}))?;
        let block = &image["content"][0];
        assert_eq!(block["type"], "image");
        assert_eq!(block["mimeType"], "image/png");
        ensure!(
            block["data"]
                .as_str()
                .is_some_and(|data| data.starts_with("iVBOR"))
        );
        ensure!(image.get("structuredContent").is_none());
    }
    Ok(())
}

#[test]
fn what_a_model_can_mend_is_a_result_that_says_how() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["crashes", "memory"])?
        .entries("[tools.custom.trivial]\nmodule = \"trivial.wasm\"\ntimeout_secs = 5");
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("crashes_panic")?;
        for (tool, arguments, words) in [
            ("trivial", json!({ "numbers": "x" }), "do not fit `trivial`"),
            ("crashes_panic", json!({ "message": "oh no" }), "oh no"),
        ] {
            let result = client.call(tool, arguments)?;
            assert_eq!(result["isError"], true, "{result}");
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            ensure!(text.contains(words), "{text}");
        }
        // And the next call is as good as the first.
        let sum = client.call("trivial", json!({ "text": "abc", "numbers": [2, 40] }))?;
        assert_eq!(sum["structuredContent"]["sum"], 42);
    }
    Ok(())
}

#[test]
fn a_thousand_calls_of_all_sizes_in_flight_are_all_answered() -> Result<()> {
    let stage = Stage::new()?;
    let mut client = Client::start(Era::Sessions, &stage, &[])?;
    client.wait_for_tool("echo")?;
    let text = |size: usize| "x".repeat(size * 37 % 20_000);
    let mut ids = Vec::new();
    for size in 0..1_000 {
        let params = json!({ "name": "echo", "arguments": { "text": text(size) } });
        ids.push((client.begin("tools/call", params)?, size));
    }
    let mut open: std::collections::HashMap<u64, usize> = ids.into_iter().collect();
    while !open.is_empty() {
        let message = client.next()?;
        let id = message["id"].as_u64().context("an answer")?;
        let size = open.remove(&id).context("it was asked once")?;
        let echoed = &message["result"]["structuredContent"]["text"];
        assert_eq!(echoed.as_str(), Some(text(size).as_str()));
    }
    Ok(())
}

#[test]
fn each_call_is_one_line_in_the_log_with_its_client_also_of_a_tool_that_is_hidden() -> Result<()> {
    for era in ERAS {
        let stage = Stage::new()?;
        let log = stage.path("log");
        let mut command = server(&stage, &["--deny", "echo"])?;
        command
            .env("RUST_LOG", "prx_host::calls=info")
            .stderr(std::fs::File::create(&log)?);
        let mut client = Client::greet(era, command)?;
        client.wait_for_tool("trivial")?;
        client.request(
            "tools/call",
            json!({ "name": "trivial", "arguments": { "text": "s3cret" } }),
        )?;
        let hidden = json!({ "name": "echo", "arguments": { "text": "s3cret" } });
        ensure!(client.ask("tools/call", hidden)?.is_err());
        client.end()?;
        let said = std::fs::read_to_string(&log)?;
        let lines: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("calls:"))
            .collect();
        let [called, refused] = lines.as_slice() else {
            anyhow::bail!("{said}");
        };
        ensure!(
            called.contains("tool=\"trivial\"") && called.contains("outcome=\"ok\""),
            "{called}"
        );
        ensure!(called.contains("client=\"test\""), "{era:?}: {called}");
        ensure!(refused.contains("outcome=\"unknown_tool\""), "{refused}");
        ensure!(!said.contains("s3cret"), "{said}");
    }
    Ok(())
}

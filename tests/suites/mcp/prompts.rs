//! Prompts, and values that people may choose from while they type an argument.

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, about_itself};
use serde_json::json;

use crate::client::{Client, ERAS, Era};
use crate::offers::{refused, stage, strings, wait_for_prompts};

#[test]
fn prompts_are_texts_and_answers_of_tools() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let mut listed = wait_for_prompts(&mut client)?;
        let listed = listed["prompts"].take();
        assert_eq!(strings(&listed, "name"), ["failing", "mixed", "review"]);
        // One without words of its own has those of its tool.
        let words = "Answers with one of each, and with structure.";
        assert_eq!(listed[1]["description"], words);
        assert_eq!(
            listed[2]["arguments"],
            json!([
                { "name": "path", "description": "The file.", "required": true },
                { "name": "focus", "required": false },
            ])
        );
        assert_eq!(
            strings(&listed[0]["arguments"], "name"),
            ["kind", "message", "data"]
        );
        let review = client.request(
            "prompts/get",
            json!({ "name": "review", "arguments": { "path": "{focus}", "focus": "speed" } }),
        )?;
        assert_eq!(review["description"], "Looks at one file.");
        assert_eq!(
            review["messages"],
            json!([{
                "role": "user",
                "content": { "type": "text", "text": "Review {focus} for speed. {path}" },
            }])
        );
        let mixed = client.request("prompts/get", json!({ "name": "mixed" }))?;
        let messages = mixed["messages"].as_array().context("messages")?;
        let kinds: Vec<_> = messages
            .iter()
            .map(|message| message["content"]["type"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource", "resource"]);
    }
    Ok(())
}

#[test]
fn wrong_arguments_of_a_prompt_are_all_said_at_once() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        wait_for_prompts(&mut client)?;
        for (params, words) in [
            (json!({ "name": "review" }), vec!["`path` is missing"]),
            (
                json!({ "name": "review", "arguments": { "pth": "x", "focus": "looks" } }),
                vec![
                    "`path` is missing",
                    "`style`, `bugs`, `speed`",
                    "did you mean `path`?",
                ],
            ),
            (
                json!({ "name": "review", "arguments": { "path": 7 } }),
                vec!["`path` is no text"],
            ),
            (json!({ "name": "reveiw" }), vec!["did you mean `review`?"]),
            (json!({ "name": "failing" }), vec!["message"]),
        ] {
            let (code, text) = refused(&mut client, "prompts/get", params)?;
            assert_eq!(code, -32602, "{text}");
            for word in words {
                ensure!(text.contains(word), "{word} is not in {text}");
            }
        }
        let failing = json!({ "name": "failing", "arguments": { "kind": "x", "message": "so" } });
        let (code, text) = refused(&mut client, "prompts/get", failing)?;
        ensure!(code == -32603 && text.contains("so"), "{code}: {text}");
    }
    Ok(())
}

#[test]
fn an_argument_that_stands_twice_is_refused_by_its_name() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let meta = match era {
            Era::Sessions => json!({}),
            Era::Stateless => about_itself().into(),
        };
        for (method, params, key) in [
            (
                "prompts/get",
                r#""name":"review","arguments":{"path":"a","path":"b"}"#,
                "`path`",
            ),
            (
                "prompts/get",
                r#""name":"failing","arguments":{"data":{"a":1,"a":2}}"#,
                "`a`",
            ),
            (
                "prompts/get",
                r#""name":"review","name":"mixed","arguments":{"path":"a"}"#,
                "`name`",
            ),
            (
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"focus","value":"","value":"s"}"#,
                "`value`",
            ),
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":"twice","method":"{method}","params":{{"_meta":{meta},{params}}}}}"#
            );
            client.send_raw(format!("{text}\n").as_bytes())?;
            let answer = client.next()?;
            assert_eq!(answer["id"], "twice", "{answer}");
            assert_eq!(answer["error"]["code"], -32602, "{text}: {answer}");
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            ensure!(said.contains(key) && said.contains("twice"), "{said}");
        }
        let once = json!({ "name": "review", "arguments": { "path": "a" } });
        client.request("prompts/get", once)?;
    }
    Ok(())
}

#[test]
fn values_that_are_few_can_be_chosen_from() -> Result<()> {
    let entries = r#"
[serve.prompts.review]
text = "{focus} {many} {sure} {free}"
[serve.prompts.review.arguments]
focus = { enum = ["style", "Speed", "bugs"] }
sure = { type = "boolean" }
free = {}
many = { enum = [MANY] }
[serve.resources.lint]
tool = "lint"
uri = "lint://{level}/{path}"
[tools.custom.lint]
command = "true"
args = ["{level}", "{path}"]
[tools.custom.lint.parameters]
level = { enum = ["low", "high"], required = true }
path = { type = "string", required = true }
"#;
    let many: Vec<String> = (0..150).map(|n| format!("\"v{n}\"")).collect();
    let stage = Stage::new()?.entries(&entries.replace("MANY", &many.join(", ")));
    let prompt = json!({ "type": "ref/prompt", "name": "review" });
    let template = json!({ "type": "ref/resource", "uri": "lint://{level}/{path}" });
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("lint")?;
        for (reference, argument, typed, values) in [
            (&prompt, "focus", "s", vec!["style", "Speed"]),
            (&prompt, "focus", "x", vec![]),
            (&prompt, "sure", "", vec!["true", "false"]),
            (&prompt, "free", "", vec![]),
            (&template, "level", "h", vec!["high"]),
            (&template, "path", "", vec![]),
        ] {
            let asked =
                json!({ "ref": reference, "argument": { "name": argument, "value": typed } });
            let found = client.request("completion/complete", asked)?;
            assert_eq!(found["completion"]["values"], json!(values), "{argument}");
        }
        let asked = json!({ "ref": prompt, "argument": { "name": "many", "value": "v" } });
        let found = client.request("completion/complete", asked)?;
        let completion = &found["completion"];
        assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
        assert_eq!(
            (&completion["total"], &completion["hasMore"]),
            (&json!(150), &json!(true))
        );
        let unknown = json!({ "type": "ref/prompt", "name": "none" });
        for (reference, argument) in [(&unknown, "x"), (&prompt, "none"), (&template, "none")] {
            let asked = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
            assert_eq!(
                refused(&mut client, "completion/complete", asked)?.0,
                -32602
            );
        }
    }
    Ok(())
}

//! What clients may read: files of folders, and what tools answer under an address.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era};

/// A folder of files, tools behind addresses and prompts.
pub fn stage() -> Result<Stage> {
    let stage = Stage::new()?
        .guests(&["contents", "crashes", "errors", "time"])?
        .entries(ENTRIES);
    stage.folder("handbook/deep er")?;
    for (path, text) in [
        ("handbook/a.md", "# A\n"),
        ("handbook/deep er/gr\u{fc}n%.md", "# Gr\u{fc}n\n"),
        ("handbook/data.json", "{}"),
        ("handbook/picture.png", "\u{89}PNG"),
        ("handbook/.hidden.md", "hidden"),
        ("secret.md", "secret"),
    ] {
        fs::write(stage.path(path), text)?;
    }
    symlink("../secret.md", stage.path("handbook/out.md"))?;
    symlink("/etc", stage.path("handbook/etc"))?;
    Ok(stage)
}

const ENTRIES: &str = r#"
[serve]
tools = ["echo"]
page_size = 3
instructions = "Look into the handbook first."

[serve.resources.handbook]
folder = "handbook"
uri = "docs://handbook/"
description = "How we work."

[serve.resources.echoed]
tool = "echo"
uri = "echo://{text}/{n}"
arguments = { fixed = true }
title = "Echoed"

[serve.resources.page]
tool = "contents_document"
uri = "guest://page"
media_type = "text/markdown"

[serve.resources.pixel]
tool = "contents_image"
uri = "guest://pixel"

[serve.resources.broken]
tool = "crashes_panic"
uri = "guest://broken/{message}"

[serve.resources.refused]
tool = "errors_fail"
uri = "guest://refused/{kind}"
arguments = { message = "no such page" }

[serve.resources.slow]
tool = "slow_spin"
uri = "guest://slow"

[serve.resources.nobody]
tool = "nobody"
uri = "guest://nobody"

[serve.prompts.review]
title = "Review"
description = "Looks at one file."
text = "Review {path} for {focus}. {{path}}"
[serve.prompts.review.arguments]
path = { required = true, description = "The file." }
focus = { enum = ["style", "bugs", "speed"], default = "bugs" }

[serve.prompts.mixed]
tool = "contents_mixed"

[serve.prompts.failing]
tool = "errors_fail"

[tools.custom.slow]
module = "time.wasm"
timeout_secs = 0.2
"#;

/// One text of each item.
pub fn strings<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item[key].as_str()).collect()
}

/// All pages of a list.
fn all(client: &mut Client, method: &str, key: &str) -> Result<Value> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let params = match cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let mut page = client.request(method, params)?;
        let list = page[key].as_array_mut().context("a list")?;
        ensure!(list.len() <= 3, "a page is too long: {list:?}");
        items.append(list);
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(items.into());
        }
    }
}

fn read(client: &mut Client, uri: &str) -> Result<Value> {
    let mut read = client.request("resources/read", json!({ "uri": uri }))?;
    Ok(read["contents"][0].take())
}

/// Code and words of a request that must be refused.
pub fn refused(client: &mut Client, method: &str, params: Value) -> Result<(i64, String)> {
    let refused = client.ask(method, params)?;
    let error = refused.err().context("it was answered")?;
    let code = error["code"].as_i64().context("a code")?;
    Ok((
        code,
        error["message"].as_str().unwrap_or_default().to_owned(),
    ))
}

#[test]
fn what_a_server_can_do_is_said_first() -> Result<()> {
    let stage = stage()?;
    let mut client = Client::silent(Era::Stateless, crate::client::server(&stage, &[])?)?;
    let found = client.request("server/discover", json!({}))?;
    assert_eq!(found["instructions"], "Look into the handbook first.");
    let can = &found["capabilities"];
    assert_eq!(
        can["resources"],
        json!({ "subscribe": true, "listChanged": true })
    );
    assert_eq!(can["prompts"], json!({ "listChanged": true }));
    ensure!(can["completions"].is_object(), "{can}");
    Ok(())
}

#[test]
fn files_are_listed_in_pages_and_read_as_what_they_are() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let listed = all(&mut client, "resources/list", "resources")?;
        assert_eq!(
            strings(&listed, "uri"),
            [
                "docs://handbook/a.md",
                "docs://handbook/data.json",
                "docs://handbook/deep%20er/gr%C3%BCn%25.md",
                "docs://handbook/picture.png",
                "guest://nobody",
                "guest://page",
                "guest://pixel",
                "guest://slow",
            ]
        );
        assert_eq!(listed[0]["mimeType"], "text/markdown");
        assert_eq!(listed[0]["size"], 4);
        assert_eq!(listed[2]["name"], "deep er/gr\u{fc}n%.md");
        let a = read(&mut client, "docs://handbook/a.md")?;
        assert_eq!(
            (&a["text"], &a["mimeType"]),
            (&json!("# A\n"), &json!("text/markdown"))
        );
        let green = read(&mut client, "docs://handbook/deep%20er/gr%C3%BCn%25.md")?;
        assert_eq!(green["text"], "# Gr\u{fc}n\n");
        let picture = read(&mut client, "docs://handbook/picture.png")?;
        ensure!(picture["blob"].is_string() && picture["mimeType"] == "image/png");
    }
    Ok(())
}

#[test]
fn what_is_not_offered_is_not_there_in_the_words_of_each_era() -> Result<()> {
    let stage = stage()?;
    let file = fs::File::create(stage.path("handbook/giant.md"))?;
    file.set_len(1 << 33)?;
    let pipe = stage.path("handbook/pipe.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RUSR)?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        let missing = match era {
            Era::Sessions => -32002,
            Era::Stateless => -32602,
        };
        for uri in [
            "docs://handbook/none.md",
            "docs://handbook/../secret.md",
            "docs://handbook/%2e%2e/secret.md",
            "docs://handbook/..%2Fsecret.md",
            "docs://handbook/out.md",
            "docs://handbook/etc/passwd",
            "docs://handbook/.hidden.md",
            "docs://handbook/pipe.md",
            "docs://handbook/deep%20er",
            "docs://handbook/",
            "file:///etc/passwd",
            "echo://a/b/c",
            "prx-host://result/0123456789abcdef0123456789abcdef",
            "",
        ] {
            let (code, text) = refused(&mut client, "resources/read", json!({ "uri": uri }))?;
            assert_eq!(code, missing, "{uri}: {text}");
            ensure!(
                !text.contains(&stage.root().display().to_string()),
                "{text}"
            );
        }
        let giant = json!({ "uri": "docs://handbook/giant.md" });
        let (code, text) = refused(&mut client, "resources/read", giant)?;
        ensure!(
            code == -32603 && text.contains("up to 1 MiB"),
            "{code}: {text}"
        );
        for method in ["resources/list", "resources/templates/list", "prompts/list"] {
            let (code, _) = refused(&mut client, method, json!({ "cursor": "x" }))?;
            assert_eq!(code, -32602, "{method}");
        }
    }
    Ok(())
}

#[test]
fn a_tool_answers_under_its_address_though_it_is_hidden() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("echo")?;
        let templates = all(&mut client, "resources/templates/list", "resourceTemplates")?;
        assert_eq!(
            strings(&templates, "uriTemplate"),
            [
                "echo://{text}/{n}",
                "guest://broken/{message}",
                "guest://refused/{kind}"
            ]
        );
        assert_eq!(templates[0]["title"], "Echoed");
        let echoed = read(&mut client, "echo://h%C3%A9%2F/7")?;
        assert_eq!(echoed["mimeType"], "application/json");
        let said: Value = serde_json::from_str(echoed["text"].as_str().context("a text")?)?;
        assert_eq!(said, json!({ "fixed": true, "text": "h\u{e9}/", "n": "7" }));
        wait_for_prompts(&mut client)?;
        let page = read(&mut client, "guest://page")?;
        assert_eq!(page["uri"], "guest://documents/read-me");
        assert_eq!(page["text"], "# Read me\n");
        let pixel = read(&mut client, "guest://pixel")?;
        assert_eq!(pixel["mimeType"], "image/png");
        let hidden = json!({ "name": "contents_image", "arguments": {} });
        assert_eq!(refused(&mut client, "tools/call", hidden)?.0, -32602);
    }
    Ok(())
}

#[test]
fn a_tool_behind_an_address_that_fails_says_how() -> Result<()> {
    let stage = stage()?;
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        wait_for_prompts(&mut client)?;
        let missing = match era {
            Era::Sessions => -32002,
            Era::Stateless => -32602,
        };
        for (uri, code, words) in [
            ("guest://broken/oh%20no", -32603, "oh no"),
            ("guest://refused/not_found", missing, "no such page"),
            ("guest://refused/denied", -32603, "no such page"),
            ("guest://slow", -32603, "0.2 s"),
            ("guest://nobody", -32603, "`nobody`"),
        ] {
            let (found, text) = loop {
                let asked = refused(&mut client, "resources/read", json!({ "uri": uri }))?;
                if !asked.1.contains("compiled") {
                    break asked;
                }
            };
            assert_eq!(found, code, "{uri}: {text}");
            ensure!(text.contains(words), "{uri}: {text}");
        }
        // And the next one is answered.
        ensure!(read(&mut client, "guest://pixel")?["blob"].is_string());
    }
    Ok(())
}

/// Waits until the tools are compiled that prompts are made of.
pub fn wait_for_prompts(client: &mut Client) -> Result<Value> {
    loop {
        let listed = client.request("prompts/list", json!({}))?;
        let prompts = listed["prompts"].as_array().context("a list")?;
        if prompts.len() == 3 {
            return Ok(listed);
        }
    }
}

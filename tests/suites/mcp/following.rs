//! Lists and files that clients follow, and what they can follow where nothing is looked at.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use prx_tests::{Stage, Versions};
use serde_json::json;

use crate::client::{Client, ERAS, Era, server};
use crate::serving::{PROMPTS, RESOURCES, TOOLS, listener, lists, reconfigure};

const UPDATED: &str = "notifications/resources/updated";

const OFF: &str = "[runtime.reload]\nmethod = \"off\"\n";

#[test]
fn words_that_a_list_shows_are_news_too() -> Result<()> {
    let folder = |uri: &str, words: &str| {
        format!("[serve.resources.docs]\nfolder = \"docs\"\nuri = \"{uri}\"\n{words}\n")
    };
    let echo = |uri: &str, words: &str| {
        format!("[serve.resources.said]\ntool = \"echo\"\nuri = \"{uri}\"\n{words}\n")
    };
    let prompt = |words: &str, argument: &str| {
        format!(
            "[serve.prompts.a]\ntext = \"Say {{a}}.\"\n{words}\n[serve.prompts.a.arguments.a]\n{argument}\n"
        )
    };
    let changes = [
        (RESOURCES, folder("d:/", "description = \"Ours.\"")),
        (RESOURCES, folder("d:/", "title = \"Handbook\"")),
        (RESOURCES, folder("e:/", "title = \"Handbook\"")),
        (
            RESOURCES,
            folder("e:/", "title = \"Handbook\"\ninclude = [\"*.md\"]"),
        ),
        (RESOURCES, echo("said:it", "")),
        (RESOURCES, echo("said:it", "description = \"Says it.\"")),
        (RESOURCES, echo("said:it", "media_type = \"text/plain\"")),
        (RESOURCES, echo("said:{it}", "media_type = \"text/plain\"")),
        (RESOURCES, echo("said:{it}", "title = \"Said\"")),
        (PROMPTS, prompt("", "")),
        (PROMPTS, prompt("description = \"Says it.\"", "")),
        (PROMPTS, prompt("title = \"Say\"", "")),
        (
            PROMPTS,
            prompt("title = \"Say\"", "description = \"What.\""),
        ),
        (PROMPTS, prompt("title = \"Say\"", "required = true")),
    ];
    for era in ERAS {
        let stage = Stage::new()?.entries(&folder("d:/", ""));
        stage.folder("docs")?;
        fs::write(stage.path("docs/a.md"), "one")?;
        fs::write(stage.path("docs/b.txt"), "one")?;
        let mut client = listener(era, &stage, &[])?;
        let bare = Stage::at(stage.root())?;
        let mut kind = RESOURCES;
        for (list, entries) in &changes {
            if *list != kind {
                // One kind goes as the other comes.
                reconfigure(&bare, "")?;
                client.hear(kind).context("what is gone")?;
                kind = list;
            }
            reconfigure(&bare, entries)?;
            client.hear(list).with_context(|| entries.clone())?;
            assert_eq!(lists(&mut client)?, [""; 0], "{entries}");
        }
    }
    Ok(())
}

#[test]
fn the_title_of_a_folder_is_before_the_names_of_its_files() -> Result<()> {
    let stage = Stage::new()?.entries(
        "[serve.resources.docs]\nfolder = \"docs\"\ntitle = \"Handbook\"\ndescription = \"Ours.\"",
    );
    stage.folder("docs")?;
    fs::write(stage.path("docs/a.md"), "one")?;
    let mut client = Client::start(Era::Stateless, &stage, &[])?;
    let listed = client.request("resources/list", json!({}))?;
    let file = &listed["resources"][0];
    assert_eq!(file["name"], "a.md");
    assert_eq!(file["title"], "Handbook: a.md");
    assert_eq!(file["description"], "Ours.");
    Ok(())
}

#[test]
fn files_that_come_and_change_are_told_to_who_follows_them() -> Result<()> {
    for era in ERAS {
        let stage = Stage::new()?.entries(
            "[runtime.reload]\npoll_secs = 0.1\n[serve.resources.a]\nfolder = \"docs\"\nuri = \"d:/\"",
        );
        stage.folder("docs")?;
        fs::write(stage.path("docs/a"), "one")?;
        fs::write(stage.path("docs/b"), "one")?;
        let mut client = listener(era, &stage, &["d:/a"])?;
        for file in ["docs/b", "docs/a"] {
            // One that is half-written has another size, which is in the list.
            fs::write(stage.path("new"), "two")?;
            fs::rename(stage.path("new"), stage.path(file))?;
        }
        assert_eq!(client.hear(UPDATED)?["uri"], "d:/a");
        assert_eq!(
            client.request("resources/read", json!({ "uri": "d:/a" }))?["contents"][0]["text"],
            "two"
        );
        assert_eq!(lists(&mut client)?, [""; 0]);
        fs::write(stage.path("docs/c"), "new")?;
        client.hear(RESOURCES)?;
        if era == Era::Sessions {
            client.request("resources/unsubscribe", json!({ "uri": "d:/a" }))?;
            for uri in ["d:/none", "d:/../a", "x:y"] {
                let refused = client.ask("resources/subscribe", json!({ "uri": uri }))?;
                assert_eq!(refused.err().context("it was accepted")?["code"], -32002);
            }
        } else {
            fs::remove_file(stage.path("docs/a"))?;
            assert_eq!(client.hear(UPDATED)?["uri"], "d:/a");
        }
    }
    Ok(())
}

#[test]
fn where_nothing_is_looked_at_nothing_can_be_followed_and_it_is_said_why() -> Result<()> {
    for era in ERAS {
        let docs = "[serve.resources.a]\nfolder = \"docs\"\nuri = \"d:/\"";
        let stage = Stage::new()?.entries(&format!("{OFF}{docs}"));
        stage.folder("docs")?;
        fs::write(stage.path("docs/a"), "one")?;
        let mut client = Client::silent(era, server(&stage, &[])?)?;
        let begun = match era {
            Era::Sessions => client.request(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": { "name": "test", "version": "1" },
                }),
            )?,
            Era::Stateless => client.request("server/discover", json!({}))?,
        };
        // Modules that become ready, and a program that reloads, are told of still.
        let can = &begun["capabilities"];
        assert_eq!(can["resources"], json!({ "listChanged": true }), "{can}");
        assert_eq!(can["tools"], json!({ "listChanged": true }), "{can}");
        if era == Era::Sessions {
            client.notify("notifications/initialized", json!({}))?;
            let refused = client.ask("resources/subscribe", json!({ "uri": "d:/a" }))?;
            let error = refused.err().context("it was accepted")?;
            assert_eq!(error["code"], -32601, "{error}");
            let text = error["message"].as_str().context("a message")?;
            for word in ["`runtime.reload.method`", "\"off\"", "\"auto\""] {
                ensure!(text.contains(word), "{word} is not in {text}");
            }
        } else {
            let wanted = json!({ "notifications": {
                "resourcesListChanged": true,
                "resourceSubscriptions": ["d:/a"],
            } });
            client.begin("subscriptions/listen", wanted)?;
            let accepted = client.hear("notifications/subscriptions/acknowledged")?;
            let accepted = &accepted["notifications"];
            assert_eq!(*accepted, json!({ "resourcesListChanged": true }));
        }
    }
    Ok(())
}

#[test]
fn modules_that_are_compiled_after_the_start_are_served_where_nothing_is_looked_at() -> Result<()> {
    let stage = Stage::new()?.own_cache().entries(OFF);
    let mut client = listener(Era::Stateless, &stage, &[])?;
    // But what changes later is not.
    let versions = Versions::new()?;
    let stage = stage.module("skill", &versions.module(1))?;
    reconfigure(&stage, "[serve]\ntools = []")?;
    let listed = client.request("tools/list", json!({}))?;
    assert_eq!(
        listed["tools"].as_array().map(Vec::len),
        Some(2),
        "{listed}"
    );
    ensure!(client.heard(TOOLS).is_empty());
    Ok(())
}

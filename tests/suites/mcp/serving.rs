//! `[serve]` of the configuration: what it says holds, and what changes in it holds for the
//! next request.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, LONG, server};

pub const TOOLS: &str = "notifications/tools/list_changed";
pub const RESOURCES: &str = "notifications/resources/list_changed";
pub const PROMPTS: &str = "notifications/prompts/list_changed";

/// A client that hears of everything.
pub fn listener(era: Era, stage: &Stage, followed: &[&str]) -> Result<Client> {
    let mut client = Client::start(era, stage, &[])?;
    client.wait_for_tool("echo")?;
    client.wait_for_tool("trivial")?;
    if era == Era::Stateless {
        client.begin(
            "subscriptions/listen",
            json!({ "notifications": {
                "toolsListChanged": true,
                "resourcesListChanged": true,
                "promptsListChanged": true,
                "resourceSubscriptions": followed,
            } }),
        )?;
        client.hear("notifications/subscriptions/acknowledged")?;
    } else {
        for uri in followed {
            client.request("resources/subscribe", json!({ "uri": uri }))?;
        }
    }
    client.heard(TOOLS);
    Ok(client)
}

/// Puts another configuration in the place of the one that is followed.
pub fn reconfigure(stage: &Stage, entries: &str) -> Result<()> {
    fs::write(stage.path("new"), format!("{}\n{entries}", stage.text()))?;
    Ok(fs::rename(stage.path("new"), stage.path("config.toml"))?)
}

/// What was heard of lists until all that was sent before an answer is there.
pub fn lists(client: &mut Client) -> Result<Vec<&'static str>> {
    client.request("tools/list", json!({}))?;
    let mut heard = Vec::new();
    for kind in [TOOLS, RESOURCES, PROMPTS] {
        heard.extend(client.heard(kind).iter().map(|_| kind));
    }
    Ok(heard)
}

#[test]
fn an_operator_who_narrows_is_obeyed_at_the_very_next_call() -> Result<()> {
    for era in ERAS {
        let stage = Stage::new()?;
        let mut client = listener(era, &stage, &[])?;
        client.call("echo", json!({ "a": 1 }))?;
        reconfigure(&stage, "[serve]\ntools = [\"trivial\"]")?;
        client.hear(TOOLS)?;
        let call = json!({ "name": "echo", "arguments": { "a": 1 } });
        let error = client
            .ask("tools/call", call)?
            .err()
            .context("it was called")?;
        assert_eq!(error["code"], -32602, "{error}");
        client.call("trivial", json!({ "text": "abc", "numbers": [2, 40] }))?;
        reconfigure(&stage, "[serve]\ndeny = [\"*\"]")?;
        client.hear(TOOLS)?;
        let listed = client.request("tools/list", json!({}))?;
        assert_eq!(listed["tools"], json!([]));
        assert_eq!(lists(&mut client)?, [""; 0]);
    }
    Ok(())
}

#[test]
fn flags_win_over_keys_and_denials_add_up() -> Result<()> {
    let stage = Stage::new()?.entries("[serve]\ntools = [\"trivial\"]\ndeny = [\"echo\"]");
    let mut client = Client::start(Era::Sessions, &stage, &["--tools", "*", "--deny", "x"])?;
    client.wait_for_tool("trivial")?;
    let names = |listed: Value| {
        let tools = listed["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().map(|tool| tool["name"].to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(
        names(client.request("tools/list", json!({}))?),
        ["\"trivial\""]
    );
    let other = "[serve]\ntools = []\n[serve.prompts.a]\ntext = \"a\"";
    reconfigure(&Stage::at(stage.root())?, other)?;
    client.hear(PROMPTS)?;
    let listed = names(client.request("tools/list", json!({}))?);
    assert_eq!(listed, ["\"echo\"", "\"trivial\""]);
    Ok(())
}

#[test]
fn each_list_is_news_once_and_alone() -> Result<()> {
    for era in ERAS {
        let stage = Stage::new()?;
        let mut client = listener(era, &stage, &[])?;
        let prompt = "[serve.prompts.a]\ntext = \"Say {a}.\"\n";
        reconfigure(&stage, prompt)?;
        client.hear(PROMPTS)?;
        assert_eq!(lists(&mut client)?, [""; 0]);
        let listed = client.request("prompts/list", json!({}))?;
        assert_eq!(listed["prompts"][0]["arguments"][0]["required"], true);
        // Another text is no other list.
        let other = "[serve.prompts.a]\ntext = \"Tell {a}.\"\n";
        let resource = "[serve.resources.a]\ntool = \"echo\"\nuri = \"a:{b}\"\n";
        reconfigure(&stage, &format!("{other}{resource}"))?;
        client.hear(RESOURCES)?;
        assert_eq!(lists(&mut client)?, [""; 0]);
        let asked = json!({ "name": "a", "arguments": { "a": "b" } });
        let told = client.request("prompts/get", asked)?;
        assert_eq!(told["messages"][0]["content"]["text"], "Tell b.");
    }
    Ok(())
}

#[test]
fn what_was_cut_can_be_read_as_a_whole() -> Result<()> {
    let stage = Stage::new()?.entries("[serve]\nmax_result_chars = 100");
    let long = json!({ "text": "\u{e9}".repeat(500) });
    for era in ERAS {
        let mut client = Client::start(era, &stage, &[])?;
        client.wait_for_tool("echo")?;
        let cut = client.call("echo", long.clone())?;
        let text = cut["content"][0]["text"].as_str().context("a text")?;
        let link = &cut["content"][1];
        assert_eq!(link["type"], "resource_link", "{cut}");
        let uri = link["uri"].as_str().context("an address")?;
        ensure!(
            uri.starts_with("prx-host://result/") && text.contains(uri),
            "{cut}"
        );
        ensure!(
            cut.get("structuredContent").is_none(),
            "it is as long: {cut}"
        );
        let read = client.request("resources/read", json!({ "uri": uri }))?;
        let whole: Value =
            serde_json::from_str(read["contents"][0]["text"].as_str().context("a text")?)?;
        assert_eq!(whole, long);
        let listed = client.request("resources/list", json!({}))?;
        assert_eq!(
            listed["resources"],
            json!([]),
            "what is kept is listed for others"
        );
    }
    // One that knows no links is told to ask for less.
    let mut client = Client::silent(Era::Sessions, server(&stage, &[])?)?;
    client.request(
        "initialize",
        json!({
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    )?;
    client.notify("notifications/initialized", json!({}))?;
    client.wait_for_tool("echo")?;
    let cut = client.call("echo", long)?;
    assert_eq!(cut["content"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[test]
fn what_needs_a_new_start_is_said_in_the_log() -> Result<()> {
    let stage = Stage::new()?;
    let log = stage.path("log");
    let mut command = server(&stage, &[])?;
    command.stderr(fs::File::create(&log)?);
    let mut client = Client::silent(Era::Stateless, command)?;
    client.wait_for_tool("echo")?;
    reconfigure(
        &stage,
        "[serve]\nmax_calls = 7\n[serve.http]\nlisten = \"127.0.0.1:1\"\ntoken = { env = \"T\" }",
    )?;
    wait_for(&log, "serve.http.token")?;
    let said = fs::read_to_string(&log)?;
    for key in ["serve.max_calls", "serve.http.listen"] {
        ensure!(said.contains(key), "{key} is not in {said}");
    }
    ensure!(
        said.contains("takes effect when the host is started again"),
        "{said}"
    );
    Ok(())
}

/// Waits until a text is in a log; the whole of it.
fn wait_for(log: &std::path::Path, text: &str) -> Result<String> {
    let began = Instant::now();
    loop {
        let said = fs::read_to_string(log)?;
        if said.contains(text) {
            return Ok(said);
        }
        ensure!(began.elapsed() < LONG, "{text} never came: {said}");
        std::thread::yield_now();
    }
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(mut command: Command) -> Result<Running> {
    Ok(Running(command.stdin(Stdio::null()).spawn()?))
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_server_over_http_is_told_all_by_its_configuration() -> Result<()> {
    let stage = Stage::new()?
        .entries("[serve.http]\nlisten = \"127.0.0.1:0\"\ntoken = { file = \"token\" }");
    let token = stage.path("token");
    fs::write(&token, format!("{TOKEN}\n"))?;
    for (mode, warned) in [(0o644, true), (0o600, false)] {
        fs::set_permissions(&token, fs::Permissions::from_mode(mode))?;
        let log = stage.path("log");
        let mut command = server(&stage, &["--http"])?;
        command.stderr(fs::File::create(&log)?);
        let _running = start(command)?;
        let said = wait_for(&log, "/mcp")?;
        assert_eq!(said.contains("chmod 600"), warned, "{said}");
        ensure!(!said.contains(TOKEN), "{said}");
        let address = said
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let address = address.context("an address")?;
        for (header, status) in [
            ("", "401"),
            (&*format!("Authorization: Bearer {TOKEN}\r\n"), "200"),
        ] {
            let mut stream = TcpStream::connect(address)?;
            write!(
                stream,
                "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{header}\r\n"
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            ensure!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{answer}"
            );
        }
    }
    Ok(())
}

#[test]
fn what_a_server_over_http_can_not_use_is_named() -> Result<()> {
    let stage = Stage::new()?;
    fs::write(stage.path("no.pem"), "no certificate")?;
    fs::write(
        stage.path("cert.pem"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    )?;
    let token = "[serve.http]\ntoken = { file = \"none\" }";
    let tls = "[serve.http]\ntls_cert = \"no.pem\"\ntls_key = \"no.pem\"";
    for (entries, flags, words) in [
        (
            token,
            vec![],
            vec!["serve.http.token", "config.toml:", "none"],
        ),
        (
            tls,
            vec![],
            vec!["certificate", "no.pem", "serve.http.tls_cert"],
        ),
        (
            tls,
            vec!["--tls-cert", "cert.pem", "--tls-key", "gone.pem"],
            vec!["private key", "gone.pem", "--tls-key"],
        ),
        (
            "",
            vec!["--allow-origin", "app.example.com"],
            vec!["--allow-origin", "https://app.example.com:443"],
        ),
        (
            "",
            vec!["--allow-host", "https://x"],
            vec!["--allow-host", "no scheme"],
        ),
    ] {
        let stage = Stage::at(stage.root())?.entries(entries);
        let mut arguments = vec!["--http", "127.0.0.1:0"];
        arguments.extend(flags);
        let output = server(&stage, &arguments)?
            .stderr(Stdio::piped())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        for word in words {
            ensure!(said.contains(word), "{word} is not in {said}");
        }
    }
    Ok(())
}

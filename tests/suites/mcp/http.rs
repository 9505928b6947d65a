//! Many clients over HTTP, spoken by hand.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::client::{about_itself, server};

/// A server of its own for each test.
struct Served {
    child: Child,
    address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// The message that answers a request, plain or in a stream.
    fn message(&self) -> Result<Value> {
        let plain = serde_json::from_str(&self.body).ok();
        let mut lines = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let streamed = || {
            lines.find_map(|line| {
                let message: Value = serde_json::from_str(line.trim()).ok()?;
                message.get("id").is_some().then_some(message)
            })
        };
        plain
            .or_else(streamed)
            .with_context(|| format!("no message: {self:?}"))
    }
}

impl Served {
    fn start(stage: &Stage, arguments: &[&str]) -> Result<Self> {
        let mut command = server(stage, &["--http", "127.0.0.1:0"])?;
        command
            .args(arguments)
            .env("TOKEN", TOKEN)
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut said = BufReader::new(child.stderr.take().context("a pipe")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let address = line
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let address = address.with_context(|| line.clone())?.parse()?;
        // Nobody shall wait because nobody reads.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Ok(Self { child, address })
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(text, "Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
        // One that is refused early may not be read to its end.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        let status = head.split(' ').nth(1).context("no status")?.parse()?;
        Ok(Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        })
    }

    /// A request of the protocol.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "called with `json!` literals"
    )]
    fn ask(&self, method: &str, params: Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        self.send("POST", "/mcp", &all, &body.to_string())
    }

    /// A request of the stateless era.
    fn request(&self, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = about_itself().into();
        let mut all = vec![
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            all.push(("Mcp-Name", &name));
        }
        all.extend(headers);
        self.ask(method, params, &all)
    }

    fn end(&mut self) -> Result<Option<i32>> {
        let pid = Pid::from_raw(i32::try_from(self.child.id())?).context("a process has an id")?;
        kill_process(pid, Signal::TERM)?;
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Waits until all modules are compiled.
fn ready(served: &Served, headers: &[(&str, &str)]) -> Result<()> {
    while served.send("GET", "/readyz", headers, "")?.status != 200 {}
    Ok(())
}

#[test]
fn tools_are_called_in_sessions_and_without() -> Result<()> {
    let stage = Stage::new()?;
    let mut served = Served::start(&stage, &[])?;
    ready(&served, &[])?;
    let call = json!({ "name": "trivial", "arguments": { "text": "abc", "numbers": [2, 40] } });
    let answer = served.request("tools/call", call.clone(), &[])?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["sum"], 42, "{answer}");

    let parameters = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let begun = served.ask("initialize", parameters, &[])?;
    let session = begun
        .header("mcp-session-id")
        .context("no session")?
        .to_owned();
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let answer = served.ask("tools/call", call, &headers)?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["sum"], 42, "{answer}");
    let listed = served.ask("tools/list", json!({}), &headers)?.message()?;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(2));
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

#[test]
fn pages_of_others_and_names_of_others_are_refused() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(
        &stage,
        &[
            "--allow-host",
            "tools.example.com",
            "--allow-origin",
            "https://app.example.com:443",
        ],
    )?;
    let list = |headers: &[(&str, &str)]| served.request("tools/list", json!({}), headers);
    for (header, allowed) in [
        (("Host", "evil.example.com"), false),
        (("Host", "127.0.0.1.evil.example.com"), false),
        (("Host", "evil@localhost.example"), false),
        (("Host", "TOOLS.example.com:8808"), true),
        (("Host", "localhost"), true),
        (("Host", "[::1]:1"), true),
        (("Origin", "https://evil.example.com"), false),
        (("Origin", "http://localhost:3000"), false),
        (("Origin", "null"), false),
        (("Origin", "https://app.example.com"), true),
    ] {
        let status = list(&[header])?.status;
        assert_eq!(status == 200, allowed, "{header:?}: {status}");
        ensure!(
            allowed || status == 403 || status == 400,
            "{header:?}: {status}"
        );
    }
    for path in ["/metrics", "/readyz", "/healthz"] {
        let status = served
            .send("GET", path, &[("Host", "evil.example.com")], "")?
            .status;
        assert_eq!(status, 403, "{path}");
    }
    Ok(())
}

#[test]
fn without_its_token_nothing_is_told() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &["--token-env", "TOKEN"])?;
    let right = format!("Bearer {TOKEN}");
    for (sent, allowed) in [
        (None, false),
        (Some("Bearer"), false),
        (Some("Bearer "), false),
        (Some("Bearer 0123456789abcdef0123456789abcdeF"), false),
        (Some(TOKEN), false),
        (Some("Basic 0123456789abcdef0123456789abcdef"), false),
        (Some(right.as_str()), true),
    ] {
        let headers: Vec<_> = sent.iter().map(|token| ("Authorization", *token)).collect();
        let answer = served.request("tools/list", json!({}), &headers)?;
        assert_eq!(answer.status, if allowed { 200 } else { 401 }, "{sent:?}");
        ensure!(allowed || answer.header("www-authenticate") == Some("Bearer"));
        let metrics = served.send("GET", "/metrics", &headers, "")?;
        assert_eq!(metrics.status == 200, allowed, "{sent:?}");
    }
    assert_eq!(served.send("GET", "/healthz", &[], "")?.status, 200);
    Ok(())
}

#[test]
fn beyond_loopback_nothing_is_served_without_a_token() -> Result<()> {
    let stage = Stage::new()?;
    let output = server(&stage, &["--http", "0.0.0.0:0"])?
        .stderr(Stdio::piped())
        .output()?;
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(said.contains("--token-file"), "{said}");
    for token in ["short", "", "two words of a phrase"] {
        let mut command = server(&stage, &["--http", "127.0.0.1:0", "--token-env", "WEAK"])?;
        let output = command.env("WEAK", token).stderr(Stdio::piped()).output()?;
        assert_eq!(output.status.code(), Some(2), "{token}");
    }
    Ok(())
}

#[test]
fn numbers_are_there_for_operators() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &[])?;
    ready(&served, &[])?;
    for arguments in [json!({ "text": "abc" }), json!({ "text": 7 })] {
        served.request(
            "tools/call",
            json!({ "name": "trivial", "arguments": arguments }),
            &[],
        )?;
    }
    let answered = served.send("GET", "/metrics", &[], "")?;
    assert_eq!(
        answered.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let metrics = answered.body;
    for line in [
        "# TYPE prx_host_reloads_total counter",
        "prx_host_reloads_total{result=\"failed\"} 0",
        "prx_host_places_taken 0",
        "prx_host_call_seconds_bucket{tool=\"trivial\",le=\"+Inf\"} 2",
        "prx_host_calls_total{tool=\"trivial\",outcome=\"ok\"} 1",
        "prx_host_calls_total{tool=\"trivial\",outcome=\"invalid_arguments\"} 1",
        "prx_host_call_seconds_count{tool=\"trivial\"} 2",
        "prx_host_running_calls{tool=\"trivial\"} 0",
        "prx_host_tools 2",
    ] {
        ensure!(
            metrics.lines().any(|found| found.trim() == line),
            "{line} is not in\n{metrics}"
        );
    }
    Ok(())
}

#[test]
fn a_request_that_is_too_large_is_refused_and_the_next_is_served() -> Result<()> {
    let stage = Stage::new()?;
    let served = Served::start(&stage, &[])?;
    ready(&served, &[])?;
    let large = json!({ "name": "echo", "arguments": { "text": "x".repeat(8 << 20) } });
    assert_eq!(served.request("tools/call", large, &[])?.status, 413);
    let small = json!({ "name": "echo", "arguments": { "text": "x" } });
    let answer = served.request("tools/call", small, &[])?.message()?;
    assert_eq!(answer["result"]["structuredContent"]["text"], "x");
    Ok(())
}

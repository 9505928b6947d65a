//! The program as a server over HTTP, and requests to it written by hand, so that nothing
//! of the server's own library is between a test and what really goes over the line.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

use crate::{Stage, program};

/// What servers find in their variable `TOKEN`, for `--token-env TOKEN`.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server of its own for each test.
pub struct Served {
    child: Child,
    address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// For instance 200.
    pub status: u16,
    /// The first line, and the headers.
    pub head: String,
    /// All of it.
    pub body: String,
}

/// The program on a stage, about to be started as a server.
pub fn server(stage: &Stage, arguments: &[&str]) -> Result<Command> {
    let config = stage.write_config()?;
    let mut command = Command::new(program()?);
    command
        .env_clear()
        .env("HOME", stage.root())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(stage.root())
        .arg("--config")
        .arg(config)
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    Ok(command)
}

/// What a request of the stateless era says of itself.
pub fn about_itself() -> Map<String, Value> {
    let named = |name: &str| format!("io.modelcontextprotocol/{name}");
    [
        (named("protocolVersion"), json!("2026-07-28")),
        (
            named("clientInfo"),
            json!({ "name": "test", "version": "1" }),
        ),
        (named("clientCapabilities"), json!({})),
    ]
    .into_iter()
    .collect()
}

impl Answer {
    /// A header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// All messages, plain or in a stream.
    pub fn messages(&self) -> Vec<Value> {
        if let Ok(plain) = serde_json::from_str(&self.body) {
            return vec![plain];
        }
        let lines = self.body.lines();
        lines
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
            .collect()
    }

    /// The message that answers a request.
    pub fn message(&self) -> Result<Value> {
        let mut messages = self.messages().into_iter();
        messages
            .find(|message| message.get("id").is_some())
            .with_context(|| format!("no message: {self:?}"))
    }
}

impl Served {
    /// Starts a server on a stage, at any free port of loopback.
    pub fn start(stage: &Stage, arguments: &[&str]) -> Result<Self> {
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until all modules are compiled.
    pub fn ready(&self, headers: &[(&str, &str)]) -> Result<()> {
        while self.send("GET", "/readyz", headers, "")?.status != 200 {}
        Ok(())
    }

    /// Sends a request as it is.
    pub fn send(
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
    pub fn ask(&self, method: &str, params: Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        self.send("POST", "/mcp", &all, &body.to_string())
    }

    /// A request of the stateless era. What it says of itself is added to its `_meta`.
    pub fn request(
        &self,
        method: &str,
        mut params: Value,
        headers: &[(&str, &str)],
    ) -> Result<Answer> {
        let named = params["name"].as_str().or(params["uri"].as_str());
        let name = named.unwrap_or_default().to_owned();
        let meta = params["_meta"].take();
        let mut meta = meta.as_object().cloned().unwrap_or_default();
        meta.extend(about_itself());
        params["_meta"] = meta.into();
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

    /// Tells it to end; its exit code.
    pub fn end(&mut self) -> Result<Option<i32>> {
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

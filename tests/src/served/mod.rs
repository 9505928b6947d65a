//! A server over HTTP, and requests to it that are written by hand.

mod answer;
mod process;
mod session;

use std::fmt::Write as _;
use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use prx_host::mcp::{HttpOptions, ServeOptions, serve_http};
use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

pub use self::answer::{Answer, Line};
pub use self::process::{descriptors, eventually, peak_memory, read_until, reads_nothing};
pub use self::session::Session;
use crate::{Stage, program};

/// Longer than anything takes on the slowest machine.
pub const LONG: Duration = Duration::from_mins(2);

/// What servers find in their variable `TOKEN`, for `--token-env TOKEN`.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

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

/// A server of its own for each test.
pub struct Served {
    runs: Runs,
    /// Where it listens.
    pub address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

/// Where a server runs.
enum Runs {
    Process(Child),
    /// In this process, with limits that the program does not have.
    Inside {
        end: Option<oneshot::Sender<()>>,
        thread: Option<JoinHandle<Result<()>>>,
    },
}

impl Served {
    /// Starts the program as a server.
    pub fn start(stage: &Stage, arguments: &[&str]) -> Result<Self> {
        let mut command = server(stage, &["--http", "127.0.0.1:0"])?;
        command
            .args(arguments)
            .env("TOKEN", TOKEN)
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut said = BufReader::new(child.stderr.take().context("a pipe")?);
        // Warnings may come first.
        let line = read_until(&mut said, "://")?;
        let address = line
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split('/').next());
        let address = address.with_context(|| line.clone())?.parse()?;
        // Nobody shall wait because nobody reads.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Ok(Self {
            runs: Runs::Process(child),
            address,
            tls: None,
        })
    }

    /// Starts a server in this process, with limits of its own.
    pub fn inside(
        stage: &Stage,
        limits: impl FnOnce(&mut ServeOptions, &mut HttpOptions),
    ) -> Result<Self> {
        stage.write_config()?;
        let builder = stage.host()?;
        let mut options = ServeOptions::default();
        let mut http = HttpOptions::new(([127, 0, 0, 1], 0).into());
        limits(&mut options, &mut http);
        let (listens, address) = channel();
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let host = Box::pin(builder.open()).await?;
                let tell = move |address| listens.send(address).unwrap_or_default();
                let end = async { drop(ended.await) };
                serve_http(&host, options, http, tell, end).await?;
                Ok(())
            })
        });
        let address = address.recv_timeout(LONG).context("it does not listen")?;
        Ok(Self {
            runs: Runs::Inside {
                end: Some(end),
                thread: Some(thread),
            },
            address,
            tls: None,
        })
    }

    /// The same server, to which these clients speak TLS.
    #[must_use]
    pub fn over_tls(mut self, trusting: Arc<ClientConfig>) -> Self {
        self.tls = Some(trusting);
        self
    }

    /// A new connection.
    pub fn connect(&self) -> Result<Box<dyn Line>> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(LONG))?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => Box::new(stream),
            Some(trusting) => {
                let name = ServerName::try_from("localhost")?;
                let connection = ClientConnection::new(Arc::clone(trusting), name)?;
                Box::new(StreamOwned::new(connection, stream))
            }
        })
    }

    /// Begins a request on a connection of its own.
    pub fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Box<dyn Line>> {
        let mut line = self.connect()?;
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(text, "Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n", body.len());
        // One that is refused early may not be read to its end.
        let _ = line.write_all(&[text.as_bytes(), body].concat());
        let _ = line.flush();
        Ok(line)
    }

    /// Sends a request as it is.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Result<Answer> {
        let mut line = self.begin(method, path, headers, body.as_ref())?;
        Answer::read(&mut *line)
    }

    /// Posts bytes as JSON.
    pub fn post(&self, body: impl AsRef<[u8]>, headers: &[(&str, &str)]) -> Result<Answer> {
        let all = [&JSON[..], headers].concat();
        self.send("POST", "/mcp", &all, body)
    }

    /// A request of the protocol.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "called with `json!` literals"
    )]
    pub fn ask(&self, method: &str, params: Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(body.to_string(), headers)
    }

    /// A request of the stateless era.
    pub fn request(&self, method: &str, params: Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let mut line = self.begin_request(method, params, headers)?;
        Answer::read(&mut *line)
    }

    /// Begins a request of the stateless era. What it says of itself is added to its `_meta`.
    pub fn begin_request(
        &self,
        method: &str,
        mut params: Value,
        headers: &[(&str, &str)],
    ) -> Result<Box<dyn Line>> {
        let named = params["name"].as_str().or(params["uri"].as_str());
        let name = named.unwrap_or_default().to_owned();
        let meta = params["_meta"].take();
        let mut meta = meta.as_object().cloned().unwrap_or_default();
        meta.extend(about_itself());
        params["_meta"] = meta.into();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut all = JSON.to_vec();
        all.extend([
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ]);
        if !name.is_empty() {
            all.push(("Mcp-Name", &name));
        }
        all.extend(headers);
        self.begin("POST", "/mcp", &all, body.to_string().as_bytes())
    }

    /// The text of a request of a session, for connections that are not ended after it.
    pub fn text(&self, session: &Session, message: &str) -> String {
        let mut text = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in JSON.into_iter().chain(session.headers()) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n{message}", message.len());
        text
    }

    /// Begins a request of a session, on a connection of its own.
    pub fn begin_in(&self, session: &Session, message: &str) -> Result<Box<dyn Line>> {
        let headers: Vec<_> = JSON.into_iter().chain(session.headers()).collect();
        self.begin("POST", "/mcp", &headers, message.as_bytes())
    }

    /// Begins a session.
    pub fn session(&self) -> Result<Session> {
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let begun = self.ask("initialize", parameters, &[])?;
        let id = begun.header("mcp-session-id");
        let session = Session {
            id: id
                .with_context(|| format!("no session: {begun:?}"))?
                .to_owned(),
        };
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let told = self.post(told, &session.headers())?;
        ensure!(told.status == 202, "{told:?}");
        Ok(session)
    }

    /// Waits until all modules are compiled.
    pub fn ready(self) -> Result<Self> {
        while self.send("GET", "/readyz", &[], "")?.status != 200 {}
        Ok(self)
    }

    /// A number of `/metrics`; of several tools, together.
    pub fn number(&self, name: &str) -> Result<u64> {
        let metrics = self.send("GET", "/metrics", &[], "")?.body;
        let lines = metrics
            .lines()
            .filter(|line| line.split([' ', '{']).next() == Some(name));
        let numbers = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        Ok(numbers.sum())
    }

    /// Waits until a number of `/metrics` is as it should be.
    pub fn wait_for(&self, name: &str, fits: impl Fn(u64) -> bool) -> Result<()> {
        eventually(|| {
            let number = self.number(name)?;
            ensure!(fits(number), "{name} is {number}");
            Ok(())
        })
    }

    /// Proves that the server serves, whatever was done to it before.
    pub fn assert_healthy(&self) -> Result<()> {
        assert_eq!(self.send("GET", "/healthz", &[], "")?.status, 200);
        let call = json!({ "name": "trivial", "arguments": { "text": "abc", "numbers": [2, 40] } });
        let sum = self.request("tools/call", call.clone(), &[])?.message()?;
        ensure!(sum["result"]["structuredContent"]["sum"] == 42, "{sum}");
        let session = self.session()?;
        let listed = self.ask("tools/list", json!({}), &session.headers())?;
        let listed = listed.message()?;
        let tools = listed["result"]["tools"].as_array().context("a list")?;
        ensure!(
            tools.iter().any(|tool| tool["name"] == "trivial"),
            "{listed}"
        );
        let sum = self
            .ask("tools/call", call, &session.headers())?
            .message()?;
        ensure!(sum["result"]["structuredContent"]["sum"] == 42, "{sum}");
        let ended = self.send("DELETE", "/mcp", &session.headers(), "")?;
        ensure!(ended.status == 204, "{ended:?}");
        self.wait_for("prx_host_running_calls", |calls| calls == 0)?;
        self.wait_for("prx_host_waiting_calls", |calls| calls == 0)
    }

    /// Its process, where it has one of its own.
    pub fn process(&self) -> u32 {
        match &self.runs {
            Runs::Process(child) => child.id(),
            Runs::Inside { .. } => std::process::id(),
        }
    }

    /// Asks it to end.
    pub fn ask_to_end(&mut self) -> Result<()> {
        match &mut self.runs {
            Runs::Process(child) => {
                let pid = Pid::from_raw(i32::try_from(child.id())?);
                kill_process(pid.context("a process has an id")?, Signal::TERM)?;
            }
            Runs::Inside { end, .. } => drop(end.take()),
        }
        Ok(())
    }

    /// Asks it to end, and waits for that; its exit code.
    pub fn end(&mut self) -> Result<Option<i32>> {
        self.ask_to_end()?;
        match &mut self.runs {
            Runs::Process(child) => Ok(child.wait()?.code()),
            Runs::Inside { thread, .. } => {
                let thread = thread.take().context("it has ended already")?;
                thread.join().map_err(|_| anyhow!("it panicked"))??;
                Ok(Some(0))
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Runs::Process(child) = &mut self.runs {
            let _ = child.kill();
            let _ = child.wait();
        } else {
            let _ = self.end();
        }
    }
}

/// What every request with a message has.
const JSON: [(&str, &str); 2] = [
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
];

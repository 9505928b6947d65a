//! A client that speaks the protocol by hand, so that nothing of the server's own library
//! is between a test and what really goes over the line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use prx_tests::served::reads_nothing;
pub use prx_tests::{LONG, server};
use prx_tests::{Stage, about_itself};
use serde_json::{Value, json};

/// How a client does not read.
const PAUSES: u8 = 1;
const DEAF: u8 = 2;
const MOMENT: Duration = Duration::from_millis(3);

/// Which era of the protocol a client is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// It begins a session.
    Sessions,
    /// Each request says all about itself.
    Stateless,
}

/// Both eras.
pub const ERAS: [Era; 2] = [Era::Sessions, Era::Stateless];

/// A client over standard streams.
pub struct Client {
    era: Era,
    child: Child,
    input: Option<ChildStdin>,
    /// Where the input is while something is sent aside.
    aside: Option<Receiver<ChildStdin>>,
    /// Whether what comes is read.
    ears: Arc<AtomicU8>,
    lines: Receiver<String>,
    /// Notifications that came while something else was waited for.
    heard: Vec<Value>,
    next: u64,
}

impl Client {
    /// Starts a server on a stage and begins to speak with it.
    pub fn start(era: Era, stage: &Stage, arguments: &[&str]) -> Result<Self> {
        Self::greet(era, server(stage, arguments)?)
    }

    /// Starts a server that way and begins to speak with it.
    pub fn greet(era: Era, command: Command) -> Result<Self> {
        let mut client = Self::silent(era, command)?;
        match era {
            Era::Sessions => {
                let begun = client.request(
                    "initialize",
                    json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "clientInfo": { "name": "test", "version": "1" },
                    }),
                )?;
                ensure!(begun["serverInfo"]["name"] == "prx-host", "{begun}");
                client.notify("notifications/initialized", json!({}))?;
            }
            Era::Stateless => {
                let found = client.request("server/discover", json!({}))?;
                ensure!(found["capabilities"]["tools"].is_object(), "{found}");
            }
        }
        Ok(client)
    }

    /// Starts a server and says nothing.
    pub fn silent(era: Era, mut command: Command) -> Result<Self> {
        let mut child = command.spawn().context("starting the server")?;
        let output = BufReader::new(child.stdout.take().context("a pipe")?);
        let (lines, receiver) = channel();
        let ears = Arc::new(AtomicU8::new(0));
        let heeds = Arc::clone(&ears);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                while heeds.load(Relaxed) == PAUSES {
                    std::thread::sleep(MOMENT);
                }
                if heeds.load(Relaxed) == DEAF || lines.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            era,
            input: child.stdin.take(),
            aside: None,
            ears,
            child,
            lines: receiver,
            heard: Vec::new(),
            next: 0,
        })
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input()?;
        input.write_all(bytes)?;
        Ok(input.flush()?)
    }

    /// Sends bytes while answers are read: who writes first and reads then may wait for
    /// ever for somebody who does the same.
    pub fn send_aside(&mut self, bytes: Vec<u8>) -> Result<()> {
        let mut input = self.input.take().context("the input was closed")?;
        let (sent, input_again) = channel();
        std::thread::spawn(move || {
            // The other end may be gone.
            let _ = input.write_all(&bytes);
            let _ = sent.send(input);
        });
        self.aside = Some(input_again);
        Ok(())
    }

    fn input(&mut self) -> Result<&mut ChildStdin> {
        if let Some(aside) = self.aside.take() {
            self.input = Some(aside.recv_timeout(LONG).context("nobody reads")?);
        }
        self.input.as_mut().context("the input was closed")
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.send_raw(format!("{message}\n").as_bytes())
    }

    /// Sends a notification.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "called with `json!` literals"
    )]
    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Sends a request and does not wait; its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> Result<u64> {
        self.next += 1;
        if self.era == Era::Stateless {
            let params = params.as_object_mut().context("parameters are an object")?;
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            let meta = meta.as_object_mut().context("it is an object")?;
            meta.extend(about_itself());
        }
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// The next message, whatever it is.
    pub fn next(&mut self) -> Result<Value> {
        let line = self
            .lines
            .recv_timeout(LONG)
            .context("the server is silent")?;
        serde_json::from_str(&line).with_context(|| format!("not of the protocol: {line}"))
    }

    /// The answer to a request; what else comes before it is kept.
    pub fn answer(&mut self, id: u64) -> Result<Value> {
        loop {
            let message = self.next()?;
            if message["id"] == id {
                return Ok(message);
            }
            self.heard.push(message);
        }
    }

    /// The result of a request, or its error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Result<Value, Value>> {
        let id = self.begin(method, params)?;
        let mut answer = self.answer(id)?;
        Ok(match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["result"].take()),
        })
    }

    /// The result of a request that must have one.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        match self.ask(method, params)? {
            Ok(result) => Ok(result),
            Err(error) => bail!("{method}: {error}"),
        }
    }

    /// Calls a tool.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "called with `json!` literals"
    )]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Waits for a notification; what else comes before it is kept.
    pub fn hear(&mut self, method: &str) -> Result<Value> {
        if let Some(at) = self
            .heard
            .iter()
            .position(|heard| heard["method"] == method)
        {
            return Ok(self.heard.remove(at)["params"].take());
        }
        loop {
            let mut message = self.next()?;
            if message["method"] == method {
                return Ok(message["params"].take());
            }
            self.heard.push(message);
        }
    }

    /// All notifications of a kind that have come so far.
    pub fn heard(&mut self, method: &str) -> Vec<Value> {
        let all = std::mem::take(&mut self.heard);
        let (wanted, rest) = all.into_iter().partition(|heard| heard["method"] == method);
        self.heard = rest;
        wanted
    }

    /// Waits for a tool to be listed.
    pub fn wait_for_tool(&mut self, name: &str) -> Result<Value> {
        loop {
            let listed = self.request("tools/list", json!({}))?;
            let tools = listed["tools"].as_array().context("a list")?;
            if let Some(tool) = tools.iter().find(|tool| tool["name"] == name) {
                return Ok(tool.clone());
            }
        }
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Ends its input, as a client that goes away does.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Reads nothing more, and waits until the server reads nothing more, either.
    pub fn pause(&self) -> Result<()> {
        self.ears.store(PAUSES, Relaxed);
        reads_nothing(self.process())
    }

    /// Reads again.
    pub fn go_on(&self) {
        self.ears.store(0, Relaxed);
    }

    /// Goes away without reading what is still for it, and waits for the end of the server;
    /// its exit code.
    pub fn vanish(&mut self) -> Result<Option<i32>> {
        self.ears.store(DEAF, Relaxed);
        self.aside = None;
        self.end()
    }

    /// Waits for its end; its exit code.
    pub fn end(&mut self) -> Result<Option<i32>> {
        self.hang_up();
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

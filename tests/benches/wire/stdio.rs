//! A client over standard streams.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use serde_json::json;

/// A server that ends with its client.
pub struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

impl Client {
    /// Starts a server. Requests of the stateless era need no more.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().context("a pipe")?,
            output: BufReader::new(child.stdout.take().context("a pipe")?),
            child,
            line: Vec::new(),
            next: 0,
        })
    }

    /// Waits until a tool was compiled.
    pub fn wait_for_tool(&mut self, tool: &str) -> anyhow::Result<()> {
        let name = format!("{{\"name\":\"{tool}\"");
        loop {
            self.list()?;
            if String::from_utf8_lossy(&self.line).contains(&name) {
                return Ok(());
            }
        }
    }

    /// Asks for the list of tools.
    pub fn list(&mut self) -> anyhow::Result<()> {
        self.ask(super::request(0, "tools/list", &json!({})))
    }

    /// Calls a tool, and waits for no answer.
    pub fn begin_call(&mut self, tool: &str) -> anyhow::Result<()> {
        self.next += 1;
        let params = json!({ "name": tool, "arguments": {} });
        let call = super::request(self.next, "tools/call", &params);
        Ok(self.input.write_all(format!("{call}\n").as_bytes())?)
    }

    /// The call that is measured.
    pub fn call(&mut self) -> anyhow::Result<()> {
        self.next += 1;
        self.ask(super::call(self.next))?;
        super::check(&self.line)
    }

    fn ask(&mut self, mut request: String) -> anyhow::Result<()> {
        request.push('\n');
        self.input.write_all(request.as_bytes())?;
        self.line.clear();
        self.output.read_until(b'\n', &mut self.line)?;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

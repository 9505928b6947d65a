//! A client over one connection of HTTP that is kept.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use anyhow::{Context as _, ensure};
use serde_json::json;

/// One connection.
pub struct Client {
    output: BufReader<TcpStream>,
    body: Vec<u8>,
    next: u64,
    port: u16,
}

/// The port at the end of the first line with an address.
pub fn port_said_in(complaints: impl Read + Send + 'static) -> anyhow::Result<u16> {
    let mut lines = BufReader::new(complaints).lines();
    let port = lines.by_ref().find_map(|line| {
        let line = line.ok()?;
        let (_, address) = line.split_once("http://127.0.0.1:")?;
        address.split('/').next()?.parse().ok()
    });
    // What is said later must be read, or its writer waits.
    std::thread::spawn(move || lines.for_each(drop));
    port.context("the server said no address")
}

impl Client {
    /// Connects. Requests of the stateless era need no session.
    pub fn connect(port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            output: BufReader::new(stream),
            body: Vec::new(),
            next: 0,
            port,
        })
    }

    /// Waits until the tool was compiled.
    pub fn wait_for_tool(&mut self) -> anyhow::Result<()> {
        loop {
            let list = super::request(0, "tools/list", &json!({}));
            self.ask("Mcp-Method: tools/list\r\n", &list)?;
            if String::from_utf8_lossy(&self.body).contains("\"trivial\"") {
                return Ok(());
            }
        }
    }

    /// The call that is measured.
    pub fn call(&mut self) -> anyhow::Result<()> {
        self.next += 1;
        let call = super::call(self.next);
        self.ask("Mcp-Method: tools/call\r\nMcp-Name: trivial\r\n", &call)?;
        super::check(&self.body)
    }

    fn ask(&mut self, headers: &str, body: &str) -> anyhow::Result<()> {
        let (port, length) = (self.port, body.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             {headers}Content-Length: {length}\r\n\r\n{body}"
        );
        self.output.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    /// Reads one answer, with a length or in chunks.
    fn answer(&mut self) -> anyhow::Result<()> {
        self.body.clear();
        let status = self.line()?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("content-length:") {
                length = text.trim().parse()?;
            }
            is_chunked |= line.starts_with("transfer-encoding:") && line.ends_with("chunked");
        }
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.line()?.trim(), 16)?;
                self.take(size)?;
                self.line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length)?;
        }
        let said = String::from_utf8_lossy(&self.body);
        ensure!(status.contains(" 200 "), "{status}: {said}");
        Ok(())
    }

    fn take(&mut self, length: usize) -> anyhow::Result<()> {
        let begin = self.body.len();
        self.body.resize(begin + length, 0);
        self.output.read_exact(&mut self.body[begin..])?;
        Ok(())
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        ensure!(self.output.read_line(&mut line)? > 0, "the server hung up");
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

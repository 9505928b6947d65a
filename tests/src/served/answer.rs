//! Connections to a server, and what comes back over them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use anyhow::{Context as _, Result};
use rustls::{ClientConnection, StreamOwned};
use serde_json::Value;

/// A connection to a server.
pub trait Line: Read + Write + Send {
    /// Ends what is written, or all.
    fn shut(&mut self, how: Shutdown);
}

impl Line for TcpStream {
    fn shut(&mut self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

impl Line for StreamOwned<ClientConnection, TcpStream> {
    fn shut(&mut self, how: Shutdown) {
        self.conn.send_close_notify();
        let _ = self.conn.write_tls(&mut self.sock);
        let _ = self.sock.shutdown(how);
    }
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

impl Answer {
    /// Reads what a server sends until it ends the connection.
    pub fn read(line: &mut dyn Line) -> Result<Self> {
        let mut bytes = Vec::new();
        // One that ends without a word has ended, too.
        let _ = line.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text
            .split_once("\r\n\r\n")
            .with_context(|| format!("no answer: {text:?}"))?;
        let status = head.split(' ').nth(1).context("no status")?.parse()?;
        Ok(Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        })
    }

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

//! A session with a server over HTTP.

use std::io::BufReader;

use anyhow::Result;

use super::{Line, Served, read_until};

/// A session of the first era.
pub struct Session {
    /// As the server called it.
    pub id: String,
}

impl Session {
    /// What every request of the session has.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        vec![
            ("Mcp-Session-Id", &self.id),
            ("MCP-Protocol-Version", "2025-11-25"),
        ]
    }

    /// Opens its stream of news, and waits until it is open.
    pub fn listen(&self, served: &Served) -> Result<BufReader<Box<dyn Line>>> {
        let mut headers = self.headers();
        headers.push(("Accept", "text/event-stream"));
        let mut stream = BufReader::new(served.begin("GET", "/mcp", &headers, b"")?);
        read_until(&mut stream, "retry:")?;
        Ok(stream)
    }
}

//! An engine for containers of this run's own: data, socket and network bridge are its own,
//! and it changes no firewall.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::started::Started;
use crate::command;

/// For one request; unpacking an image included.
const REQUEST: Duration = Duration::from_mins(2);

/// A running engine.
pub struct Engine {
    socket: Socket,
    // Ends before its bridge does.
    #[allow(dead_code, reason = "held for its end")]
    daemon: Started,
    #[allow(dead_code, reason = "held for its end")]
    mounts: Mounts,
    #[allow(dead_code, reason = "held for its end")]
    bridge: Bridge,
}

impl Engine {
    /// Starts one that keeps everything in a folder.
    pub fn start(folder: &Path) -> Result<Self> {
        let bridge = Bridge::new()?;
        let socket = Socket(folder.join("docker.sock"));
        let at = |name: &str| folder.join(name).display().to_string();
        let arguments = [
            format!("--host=unix://{}", socket.0.display()),
            format!("--data-root={}", at("data")),
            format!("--exec-root={}", at("run")),
            format!("--pidfile={}", at("pid")),
            format!("--config-file={}", at("config.json")),
            format!("--bridge={}", bridge.name),
            "--iptables=false".to_owned(),
            "--ip-forward=false".to_owned(),
            "--ip-masq=false".to_owned(),
            "--userland-proxy=false".to_owned(),
        ];
        std::fs::write(at("config.json"), "{}")?;
        let daemon = Started::new("dockerd", &arguments, &folder.join("log"))?;
        let mut engine = Self {
            socket,
            daemon,
            mounts: Mounts(folder.to_owned()),
            bridge,
        };
        let socket = engine.socket.clone();
        engine.daemon.until(|| socket.get("/_ping").is_ok())?;
        Ok(engine)
    }

    /// Where it answers.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }
}

/// Where an engine answers.
#[derive(Clone)]
pub struct Socket(pub PathBuf);

impl Socket {
    /// What it answers.
    pub fn get(&self, path: &str) -> Result<String> {
        request(&self.0, "GET", path, &[], b"")
    }

    /// Posts to it; gives what it answers.
    pub fn post(&self, path: &str, headers: &[&str], body: &[u8]) -> Result<String> {
        request(&self.0, "POST", path, headers, body)
    }
}

/// One request on a connection of its own, which its answer ends.
fn request(
    socket: &Path,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &[u8],
) -> Result<String> {
    let mut connection = UnixStream::connect(socket)?;
    connection.set_read_timeout(Some(REQUEST))?;
    let mut head = format!(
        "{method} {path} HTTP/1.0\r\nHost: engine\r\nContent-Length: {}\r\n",
        body.len()
    );
    for header in headers {
        let _ = write!(head, "{header}\r\n");
    }
    head.push_str("\r\n");
    connection.write_all(head.as_bytes())?;
    connection.write_all(body)?;
    let mut answer = Vec::new();
    connection
        .read_to_end(&mut answer)
        .with_context(|| format!("the engine did not answer to {method} {path}"))?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    // What goes wrong after its first word, it says in the body.
    if !status.starts_with('2') || body.contains("\"errorDetail\"") {
        bail!("the engine answered {status} to {method} {path}: {body}");
    }
    Ok(body.to_owned())
}

/// What an engine leaves mounted in its folder, which could not be removed then.
struct Mounts(PathBuf);

impl Drop for Mounts {
    fn drop(&mut self) {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let places = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        let ours: Vec<_> = places
            .filter(|place| Path::new(place).starts_with(&self.0))
            .collect();
        // The last one may lie on one before it.
        for place in ours.iter().rev() {
            if let Err(error) = command::quietly(Command::new("umount").args(["-l", place])) {
                eprintln!("warning: {error:#}");
            }
        }
    }
}

/// A network bridge: the usual one may be somebody's.
struct Bridge {
    name: String,
}

impl Bridge {
    fn new() -> Result<Self> {
        // Two runs at once have two of them; names have at most 15 characters.
        let id = std::process::id();
        let name = format!("prx{}", id % 1_000_000_000);
        let address = format!("10.213.{}.1/24", id % 250);
        ip(&["link", "add", &name, "type", "bridge"])?;
        let bridge = Self { name };
        ip(&["address", "add", &address, "dev", &bridge.name])?;
        ip(&["link", "set", &bridge.name, "up"])?;
        Ok(bridge)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Err(error) = ip(&["link", "delete", &self.name]) {
            eprintln!("warning: {error:#}");
        }
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    let program = super::packages::find("ip").context("there is no `ip`")?;
    command::quietly(Command::new(program).args(arguments))
}

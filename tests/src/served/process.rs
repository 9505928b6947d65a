//! What is waited for and measured from outside a server.

use std::io::BufRead;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::LONG;

/// Reads lines until one has that text.
pub fn read_until(stream: &mut impl BufRead, text: &str) -> Result<String> {
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            bail!("it ended before `{text}` came");
        }
        if line.contains(text) {
            return Ok(line);
        }
    }
}

/// How often is looked whether something holds.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until something holds.
pub fn eventually(mut holds: impl FnMut() -> Result<()>) -> Result<()> {
    let began = Instant::now();
    loop {
        match holds() {
            Ok(()) => return Ok(()),
            Err(error) if began.elapsed() > LONG => return Err(error),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Descriptors that a process has open.
pub fn descriptors(process: u32) -> Result<usize> {
    Ok(std::fs::read_dir(format!("/proc/{process}/fd"))?.count())
}

/// Waits until a process reads nothing from anywhere.
pub fn reads_nothing(process: u32) -> Result<()> {
    let file = format!("/proc/{process}/io");
    let read = || std::fs::read_to_string(&file).map(|text| text.lines().next().map(str::to_owned));
    let mut before = None;
    loop {
        let now = read()?;
        if now == before {
            return Ok(());
        }
        before = now;
        std::thread::sleep(60 * PAUSE);
    }
}

/// The most memory that a process has had, in bytes.
pub fn peak_memory(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kilobytes.context("no VmHWM")?.parse::<u64>()? << 10)
}

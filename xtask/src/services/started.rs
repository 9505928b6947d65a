//! A program in the background: it ends with this one, whatever ends this one, and what it
//! said is there when something goes wrong.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::packages;
use crate::command;

/// How long a service may take to be ready, and to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// How much of a log is shown.
const LAST_LINES: usize = 30;

/// A service that runs.
pub struct Started {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Started {
    /// Starts a program; what it says goes to a file.
    pub fn new(name: &'static str, arguments: &[String], log: &Path) -> Result<Self> {
        Self::with_last("TERM", name, arguments, log)
    }

    /// One that is to end by another signal when this program is gone.
    pub fn with_last(
        signal: &str,
        name: &'static str,
        arguments: &[String],
        log: &Path,
    ) -> Result<Self> {
        let program = packages::find(name).with_context(|| format!("there is no `{name}`"))?;
        let said = File::create(log)?;
        // Also when this program is killed, the system tells the service to end.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", signal])
            .arg(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said)
            .spawn()
            .with_context(|| format!("could not start `{name}`"))?;
        Ok(Self {
            name,
            child,
            log: log.to_owned(),
        })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it is ready. It may end before that.
    pub fn until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
        let start = Instant::now();
        while !is_ready() {
            if let Some(status) = self.child.try_wait()? {
                bail!("`{}` ended ({status}):\n{}", self.name, self.last_lines());
            }
            if start.elapsed() > PATIENCE {
                bail!(
                    "`{}` is not ready after {} s:\n{}",
                    self.name,
                    PATIENCE.as_secs(),
                    self.last_lines()
                );
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn last_lines(&self) -> String {
        let said = std::fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<_> = said.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    fn end(&mut self) -> Result<()> {
        let pid = self.child.id().to_string();
        command::quietly(Command::new("kill").args(["-TERM", &pid]))?;
        let start = Instant::now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > PATIENCE {
                self.child.kill()?;
                self.child.wait()?;
                bail!("it did not end by itself");
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Err(error) = self.end() {
            eprintln!("warning: `{}`: {error:#}", self.name);
        }
    }
}

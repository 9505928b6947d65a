//! The native adapter, with each of its sandboxes, held to the contract.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::{NativeAdapter, RuntimeAdapter};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Behaviour, Breakdown, Command, Differences, Fixture};

/// The program that plays the roles.
pub const PLAYER: &str = env!("CARGO_BIN_EXE_player");

/// The native adapter with one sandbox.
pub struct Native {
    sandbox: &'static str,
    keys: String,
}

impl Native {
    /// The native adapter with that sandbox.
    pub fn new(sandbox: &'static str) -> Self {
        Self {
            sandbox,
            keys: String::new(),
        }
    }

    /// The same with more keys of `[security.sandbox]`.
    pub fn with(mut self, key: &str) -> Self {
        self.keys.push_str(key);
        self.keys.push('\n');
        self
    }
}

impl Fixture for Native {
    fn differences(&self) -> Differences {
        Differences {
            breakdown: Breakdown::Signal,
            has_shell: true,
            has_processes: true,
            // The others have no PID namespace.
            holds_sessions: matches!(self.sandbox, "bubblewrap" | "firejail"),
            shows_own_paths: true,
            many: 1000,
        }
    }

    fn configuration(&self) -> String {
        let folder = Path::new(PLAYER)
            .parent()
            .unwrap_or(Path::new("/usr"))
            .display();
        format!(
            "[security.sandbox]\nbackend = \"{}\"\nreadonly_paths = [\"/usr\", \"/lib\", \
             \"/lib64\", \"/bin\", \"/sbin\", \"/etc\", \"{folder}\"]\n{}",
            self.sandbox, self.keys
        )
    }

    async fn adapter(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Arc<dyn RuntimeAdapter>> {
        let adapter = NativeAdapter::new(config, environment).await?;
        // A sandbox that is missing is a failure, never a reason to go on without it.
        ensure!(
            adapter.sandbox() == self.sandbox,
            "ran in `{}`",
            adapter.sandbox()
        );
        Ok(Arc::new(adapter))
    }

    fn command(&self, behaviour: &Behaviour<'_>) -> Result<Command> {
        Ok(Command::of_player(PLAYER, behaviour))
    }

    fn running(&self, marker: &str) -> Result<Vec<String>> {
        Ok(marked(marker)?.into_iter().map(|(_, line)| line).collect())
    }

    fn end(&self, marker: &str) -> Result<()> {
        for (pid, _) in marked(marker)? {
            kill_process(pid, Signal::KILL)?;
        }
        Ok(())
    }
}

/// The processes with a marker among their arguments. One that is dead and not yet reaped
/// has no arguments any more.
pub fn marked(marker: &str) -> Result<Vec<(Pid, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("reading `/proc`")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may be gone before it is looked at.
        let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(marker)
            && let Some(pid) = Pid::from_raw(pid)
        {
            found.push((pid, line));
        }
    }
    Ok(found)
}

mod without_a_sandbox {
    contract!(crate::native::Native::new("none"));
}

mod bubblewrap {
    contract!(crate::native::Native::new("bubblewrap"));
}

mod landlock {
    contract!(crate::native::Native::new("landlock"));
}

mod firejail {
    contract!(crate::native::Native::new("firejail"));
}

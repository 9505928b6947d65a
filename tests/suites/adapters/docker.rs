//! The Docker adapter, held to the contract. Lines for the shell of a busybox play the
//! roles.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use prx_host::config::{Config, Environment};
use prx_host::{DockerAdapter, RuntimeAdapter};
use prx_tests::containers;
use rustix::process::{Signal, kill_process};

use crate::fixture::{Behaviour, Breakdown, Command, Differences, Fixture};
use crate::native::marked;

/// The Docker adapter.
struct Docker;

impl Fixture for Docker {
    fn differences(&self) -> Differences {
        Differences {
            // 128 and SIGABRT, as the init process of the container says it.
            breakdown: Breakdown::Code(134),
            has_shell: true,
            has_processes: true,
            holds_sessions: true,
            shows_own_paths: false,
            many: 30,
        }
    }

    fn configuration(&self) -> String {
        // A variable that is missing fails when the adapter is made.
        let socket = containers::socket()
            .unwrap_or_default()
            .display()
            .to_string();
        let image = containers::image().unwrap_or_else(|_| "not-given".to_owned());
        format!("[runtime.docker]\nsocket = {socket:?}\nimage = {image:?}\n")
    }

    async fn adapter(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Arc<dyn RuntimeAdapter>> {
        containers::socket()?;
        containers::image()?;
        let adapter = DockerAdapter::connect(config, environment).await?;
        Ok(Arc::new(adapter))
    }

    /// A container begins later than a process does.
    fn deadline(&self) -> Duration {
        Duration::from_secs(6)
    }

    fn command(&self, behaviour: &Behaviour<'_>) -> Result<Command> {
        let (line, arguments) = played(behaviour);
        let head = ["-c".to_owned(), line.to_owned(), "player".to_owned()];
        Ok(Command {
            program: "sh".to_owned(),
            args: head.into_iter().chain(arguments).collect(),
        })
    }

    /// Processes of containers are processes of this machine too.
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

/// A line for the shell, and its arguments.
fn played(behaviour: &Behaviour<'_>) -> (&'static str, Vec<String>) {
    let one = |argument: &str| vec![argument.to_owned()];
    match behaviour {
        Behaviour::PrintArguments(arguments) => (
            "[ $# -eq 0 ] || printf '%s\\0' \"$@\"",
            arguments
                .iter()
                .map(|&argument| argument.to_owned())
                .collect(),
        ),
        Behaviour::PrintVariables => ("exec cat /proc/self/environ", Vec::new()),
        Behaviour::PrintFolder => ("pwd", Vec::new()),
        Behaviour::Print(stdout, stderr) => (
            "printf \"$1\"; printf \"$2\" >&2",
            vec![escaped(stdout), escaped(stderr)],
        ),
        Behaviour::Exit(code) => ("exit $1", one(&code.to_string())),
        Behaviour::Abort => ("kill -ABRT $$", Vec::new()),
        Behaviour::Echo => ("exec cat", Vec::new()),
        Behaviour::Flood(bytes) => (
            "head -c $1 /dev/zero & head -c $1 /dev/zero >&2; wait",
            one(&bytes.to_string()),
        ),
        Behaviour::Sleep { marker } => ("echo begun; sleep 600; :", one(marker)),
        Behaviour::Stubborn { marker } => (
            "trap '' TERM; echo begun; while :; do sleep 600; done",
            one(marker),
        ),
        Behaviour::Spin => ("while :; do :; done", Vec::new()),
        Behaviour::Leave { marker } => {
            ("sh -c 'sleep 600; :' child \"$1\" & echo left", one(marker))
        }
        Behaviour::LeaveAndStay { marker } => (
            "sh -c 'sleep 600; :' child \"$1\" & echo begun; sleep 600; :",
            one(marker),
        ),
        Behaviour::Daemonise { marker } => (
            "setsid sh -c 'sleep 600; :' child \"$1\" <&- >/dev/null 2>&1 & echo left",
            one(marker),
        ),
    }
}

/// Bytes as `printf` takes them.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "\\{byte:03o}");
        text
    })
}

contract!(Docker);

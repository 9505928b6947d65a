//! The sandboxes of `[security.sandbox]`: which one is used, and a command put into it.
//!
//! Invariants: a sandbox is taken only after it ran something; a command never runs
//! without the sandbox that was chosen.

pub(super) mod bubblewrap;
pub(super) mod choice;
pub(super) mod firejail;
pub(super) mod landlock;
pub(super) mod paths;
pub(super) mod warden;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bubblewrap::Bubblewrap;
use firejail::Firejail;
use landlock::Landlock;
use paths::Paths;

use super::environment::Variables;
use super::group::End;
use super::launch::Launch;
use super::limits::Limits;
use super::process::{Bounds, Over, Prepared, Ran, run};
use super::program::STANDARD_PATH;
use super::spawner;
use crate::config::Environment;
use crate::model::Shown as _;
use crate::runtime::{Result, RuntimeError};

/// How long a program may take to say its version, and how much it may say.
const VERSION_TIME: Duration = Duration::from_secs(2);
const VERSION_BYTES: u64 = 64 << 10;

/// A command that is found and checked, not yet put into a sandbox.
pub(super) struct Target {
    pub(super) file: PathBuf,
    /// From the program's own name on.
    pub(super) argv: Vec<OsString>,
    pub(super) variables: Variables,
    /// The working folder, absolute and without links.
    pub(super) folder: PathBuf,
    pub(super) limits: Limits,
}

/// What a command runs in.
#[derive(Debug)]
pub(super) enum Sandbox {
    /// Only limits and a session of its own.
    None,
    Bubblewrap(Bubblewrap, Paths),
    Landlock(Landlock, Paths),
    Firejail(Firejail, Paths),
}

impl Sandbox {
    /// As in `security.sandbox.backend`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bubblewrap(..) => "bubblewrap",
            Self::Landlock(..) => "landlock",
            Self::Firejail(..) => "firejail",
        }
    }

    /// Its version, or what the kernel offers of it.
    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Bubblewrap(bubblewrap, _) => Some(bubblewrap.version.clone()),
            Self::Landlock(landlock, _) => Some(landlock.version()),
            Self::Firejail(firejail, _) => Some(firejail.version.clone()),
        }
    }

    fn paths(&self) -> Option<&Paths> {
        match self {
            Self::None => None,
            Self::Bubblewrap(_, paths) | Self::Landlock(_, paths) | Self::Firejail(_, paths) => {
                Some(paths)
            }
        }
    }

    /// Whether a command in it sees a file.
    pub(super) fn shows(&self, file: &Path) -> bool {
        let Some(paths) = self.paths() else {
            return true;
        };
        file.canonicalize().is_ok_and(|real| paths.show(&real))
    }

    /// What holds in it and what does not, one line each.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = match self {
            Self::None => Vec::new(),
            Self::Bubblewrap(bubblewrap, _) => bubblewrap.notes(),
            Self::Landlock(landlock, _) => landlock.notes(),
            Self::Firejail(firejail, _) => firejail.notes(),
        };
        notes.extend(self.dangers());
        notes
    }

    /// What of the host itself a command could change, one line each.
    pub(super) fn dangers(&self) -> Vec<String> {
        let Some(paths) = self.paths() else {
            return Vec::new();
        };
        let mut open = paths.exposed.clone();
        if matches!(self, Self::Landlock(..)) {
            // It can only add rights.
            open.extend(paths.guarded.iter().cloned());
        }
        if matches!(self, Self::Firejail(..)) {
            // It does not mount a writable folder in a writable one, which can be renamed.
            let in_another = |own: &&PathBuf| {
                let mut pins = paths.granted.iter().filter(|grant| grant.pinned);
                pins.any(|grant| grant.writable && own.starts_with(&grant.real))
            };
            open.extend(paths.guarded.iter().filter(in_another).cloned());
        }
        let danger = |path: PathBuf| {
            format!(
                "danger: commands can change `{}`, and with it what this host does when it \
                 starts again: move it out of the workspace and of \
                 `security.sandbox.writable_paths`",
                path.shown()
            )
        };
        open.into_iter().map(danger).collect()
    }

    /// Refuses a working folder, absolute and without links, that the command could not see.
    pub(super) fn admit(&self, folder: &Path) -> Result<()> {
        match self.paths() {
            Some(paths) if !paths.show(folder) => Err(RuntimeError::WorkingDirectory {
                path: folder.to_owned(),
                reason: format!(
                    "the sandbox `{}` does not show it; name it in \
                     `security.sandbox.readonly_paths` or `security.sandbox.writable_paths`",
                    self.name()
                ),
            }),
            _ => Ok(()),
        }
    }

    /// The error for a sandbox that ended without having run the command.
    pub(super) fn failure(&self, complaint: &str) -> RuntimeError {
        // It may quote paths.
        let complaint = complaint.trim().lines().collect::<Vec<_>>().join("; ");
        let complaint = complaint.shown().to_string();
        match self {
            Self::Firejail(..) => Firejail::failure(&complaint),
            // The others have no program that could complain.
            _ => Bubblewrap::failure(&complaint),
        }
    }

    /// Whether it failed by chance, without having run the command.
    pub(super) fn may_be_tried_again(&self, ran: &Ran) -> bool {
        let has_failed = ran.over == Over::Ended(End::SandboxFailed);
        has_failed && matches!(self, Self::Firejail(..)) && firejail::is_chance(&ran.stderr.text())
    }

    /// Puts a command into it.
    pub(super) fn prepare(&self, target: Target) -> Result<Prepared> {
        match self {
            Self::None => Ok(Prepared {
                launch: direct(target),
                warden: None,
            }),
            Self::Bubblewrap(bubblewrap, _) => bubblewrap.prepare(target),
            Self::Landlock(landlock, paths) => landlock.prepare(target, paths),
            Self::Firejail(firejail, _) => firejail.prepare(target),
        }
    }
}

/// The command itself, with its limits.
fn direct(target: Target) -> Launch {
    let mut launch = spawner::launch(&target.file);
    launch.argv(target.argv).folder(&target.folder);
    for (name, value) in target.variables.iter() {
        launch.variable(name, value);
    }
    let limits = target.limits;
    let prepare = move || -> io::Result<()> {
        limits.apply()?;
        limits.apply_open_files()
    };
    // SAFETY: the step only makes system calls.
    unsafe { launch.step(prepare) };
    launch
}

/// A program of the host's own `PATH`, which without one is the usual folders.
fn located(name: &str, environment: &Environment) -> Option<PathBuf> {
    let path = environment.variable("PATH");
    std::env::split_paths(path.unwrap_or(OsStr::new(STANDARD_PATH)))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The first line that a program says about itself within a short time. Nothing of it is
/// left running then, whatever it is.
async fn version_of(program: &Path, args: &[&str]) -> String {
    let mut launch = spawner::launch(program);
    for argument in args {
        launch.arg(*argument);
    }
    let prepared = Prepared {
        launch,
        warden: None,
    };
    let bounds = Bounds {
        stdin: None,
        timeout: VERSION_TIME,
        cancel: None,
        events: None,
        max_output: VERSION_BYTES,
    };
    let said = run(prepared, bounds).await.map(|ran| ran.stdout.text());
    let said = said.unwrap_or_default();
    match said.lines().next().unwrap_or_default().trim_end() {
        "" => "of unknown version".to_owned(),
        line => line.shown().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_says_no_version_is_not_waited_for() {
        let shell = Path::new("/bin/sh");
        let version = version_of(shell, &["-c", "sleep 600.125; true"]).await;
        assert_eq!(version, "of unknown version");
        let is_left = || {
            std::fs::read_dir("/proc").unwrap().flatten().any(|one| {
                let line = std::fs::read(one.path().join("cmdline")).unwrap_or_default();
                line == b"sleep\x00600.125\0"
            })
        };
        // What is killed has still to be run once, to end.
        let begun = std::time::Instant::now();
        while is_left() {
            assert!(begun.elapsed().as_secs() < 60, "what it started goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let version = version_of(shell, &["-c", "echo tool 1.2; echo more"]).await;
        assert_eq!(version, "tool 1.2");
    }
}

//! One running command with all its processes: how it ends, and how it is ended.
//!
//! Invariants: a signal is only sent while the leader is not reaped, so that its number
//! can not belong to somebody else; a group that is dropped is killed and reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

use super::sandbox::warden::{Link, Word};
use super::spawner;

/// How long a sandbox may take to vanish when it is told to.
const VANISH: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// It never ran, for this error of the system.
    NotRun(i32),
    /// Its sandbox ended without having run it.
    SandboxFailed,
}

/// A process that leads its own group, and those that it started.
pub(super) struct Group {
    /// `None` once it is reaped.
    child: Option<Child>,
    leader: Pid,
    exit: AsyncFd<OwnedFd>,
    warden: Option<Link>,
}

impl Group {
    /// Starts a command. Its streams are in the child.
    pub(super) async fn start(
        command: Command,
        warden: Option<StdUnixStream>,
    ) -> io::Result<(Self, Streams)> {
        let warden = warden.map(Link::new).transpose()?;
        let mut child = spawner::spawn(command).await?;
        let streams = Streams {
            stdin: child.stdin.take().map(OwnedFd::from),
            stdout: child.stdout.take().map(OwnedFd::from),
            stderr: child.stderr.take().map(OwnedFd::from),
        };
        match watch(&child) {
            Ok((leader, exit)) => {
                let group = Self {
                    child: Some(child),
                    leader,
                    exit,
                    warden,
                };
                Ok((group, streams))
            }
            Err(error) => {
                spawner::end(child);
                Err(error)
            }
        }
    }

    /// Waits for the end of the command; others of its group may live on. Nothing is
    /// lost when the future is dropped.
    pub(super) async fn ended(&mut self) -> io::Result<End> {
        let Some(warden) = &mut self.warden else {
            let _ready = self.exit.readable().await?;
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let status = waitid(WaitId::Pid(self.leader), options)?;
            let status = status.ok_or_else(|| io::Error::other("the process lives again"))?;
            return Ok(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => End::Exited(code),
                (None, Some(signal)) => End::Signalled(signal),
                (None, None) => return Err(io::Error::other("an end of an unknown kind")),
            });
        };
        Ok(match warden.word().await {
            Some(Word::NotRun(error)) => End::NotRun(error),
            Some(Word::Ended(status)) => match status & 0x7f {
                0 => End::Exited((status >> 8) & 0xff),
                signal => End::Signalled(signal),
            },
            Some(Word::Killed) => End::Signalled(Signal::KILL.as_raw()),
            None => {
                let _ready = self.exit.readable().await?;
                End::SandboxFailed
            }
        })
    }

    /// Asks all of it to end.
    pub(super) fn terminate(&mut self) {
        match &mut self.warden {
            Some(warden) => warden.terminate(),
            None => self.signal(Signal::TERM),
        }
    }

    /// Ends all of it. When this returns, no process of the command is left. The sandbox's
    /// own may still be taking its namespaces down, which takes several times as long as a
    /// short command and is not waited for.
    pub(super) async fn finish(mut self) {
        if let Some(warden) = self.warden.take() {
            match timeout(VANISH, warden.empty()).await {
                Ok(true) => {
                    tokio::spawn(self.vanish());
                    return;
                }
                Ok(false) if timeout(VANISH, self.exit.readable()).await.is_ok() => {
                    self.reap();
                    return;
                }
                _ => {}
            }
        }
        self.signal(Signal::KILL);
        let _ = self.exit.readable().await;
        self.reap();
    }

    /// Waits for the sandbox's own end; a group that is dropped before is killed.
    async fn vanish(mut self) {
        if timeout(VANISH * 20, self.exit.readable()).await.is_ok() {
            self.reap();
        }
    }

    fn signal(&self, signal: Signal) {
        if self.child.is_some() {
            let _ = kill_process_group(self.leader, signal);
        }
    }

    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            // What is left of the group goes while its number is still taken.
            let _ = kill_process_group(self.leader, Signal::KILL);
            let _ = child.wait();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.warden.take());
        self.signal(Signal::KILL);
        let Some(mut child) = self.child.take() else {
            return;
        };
        // A killed process is soon gone, but a future must not wait when it is dropped.
        let thread = std::thread::Builder::new().name("prx-reaper".to_owned());
        let started = thread.spawn(move || {
            let _ = child.wait();
        });
        if let Err(error) = started {
            tracing::warn!("no thread to reap a process with: {error}");
        }
    }
}

/// The ends of a command's pipes on this side.
pub(super) struct Streams {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

fn watch(child: &Child) -> io::Result<(Pid, AsyncFd<OwnedFd>)> {
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
    let exit = pidfd_open(leader, PidfdFlags::NONBLOCK)
        .or_else(|_| pidfd_open(leader, PidfdFlags::empty()))?;
    // SAFETY: an `OwnedFd` names one open file for as long as it lives.
    let exit = unsafe { AsyncFd::register_with_interest(exit, Interest::READABLE) };
    Ok((leader, exit.map_err(io::Error::from)?))
}

//! One running command with all its processes: how it ends, and how it is ended.
//!
//! Invariant: a group that is dropped is killed and reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

use super::launch::{Launch, Started};
use super::leader::Leader;
use super::sandbox::warden::{Link, Word};
use super::spawner;

/// How long a sandbox may take to vanish when it is told to.
const VANISH: Duration = Duration::from_millis(500);

/// How long the end of a killed process is waited for. In the middle of a system call that
/// can not be interrupted it may last for ever.
const DEATH: Duration = Duration::from_secs(2);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exited(i32),
    /// By a signal, after so much processor time; zero where that is not known.
    Signalled(i32, Duration),
    /// It never ran, for this error of the system.
    NotRun(i32),
    /// Its sandbox ended without having run it.
    SandboxFailed,
}

/// A process that leads its own group, and those that it started.
pub(super) struct Group {
    // Told before its sandbox is killed.
    warden: Option<Link>,
    leader: Leader,
    exit: AsyncFd<OwnedFd>,
}

impl Group {
    /// Starts a command.
    pub(super) async fn start(
        launch: Launch,
        warden: Option<StdUnixStream>,
    ) -> io::Result<(Self, Streams)> {
        let warden = warden.map(Link::new).transpose()?;
        let Started {
            leader,
            exit,
            stdin,
            stdout,
            stderr,
        } = spawner::start(launch).await?;
        // SAFETY: an `OwnedFd` names one open file for as long as it lives.
        let exit = unsafe { AsyncFd::register_with_interest(exit, Interest::READABLE) };
        let group = Self {
            warden,
            leader,
            exit: exit.map_err(io::Error::from)?,
        };
        let streams = Streams {
            stdin,
            stdout,
            stderr,
        };
        Ok((group, streams))
    }

    /// Waits for the end of the command; others of its group may live on. Nothing is
    /// lost when the future is dropped.
    pub(super) async fn ended(&mut self) -> io::Result<End> {
        let Some(warden) = &mut self.warden else {
            let _ready = self.exit.readable().await?;
            let status = self.leader.status()?;
            let status = status.ok_or_else(|| io::Error::other("the process lives again"))?;
            return Ok(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => End::Exited(code),
                (None, Some(signal)) => End::Signalled(signal, self.leader.cpu_time()),
                (None, None) => return Err(io::Error::other("an end of an unknown kind")),
            });
        };
        Ok(match warden.word().await {
            Some(Word::NotRun(error)) => End::NotRun(error),
            Some(Word::Ended { status, cpu_time }) => match status & 0x7f {
                0 => End::Exited((status >> 8) & 0xff),
                signal => End::Signalled(signal, cpu_time),
            },
            Some(Word::Killed) => End::Signalled(Signal::KILL.as_raw(), Duration::ZERO),
            None => {
                let _ready = self.exit.readable().await?;
                End::SandboxFailed
            }
        })
    }

    /// Waits until no process of an ended command is left, where a warden can tell. Nothing
    /// is lost when the future is dropped.
    pub(super) async fn deserted(&mut self) {
        if let Some(warden) = &mut self.warden
            && warden.deserted().await
        {
            return;
        }
        let () = std::future::pending().await;
    }

    /// Asks all of it to end.
    pub(super) fn terminate(&mut self) {
        match &mut self.warden {
            Some(warden) => warden.terminate(),
            None => self.leader.signal(Signal::TERM),
        }
    }

    /// Ends all of it. When this returns, no process of the command is left, with two
    /// exceptions. Where no PID namespace holds them (no sandbox, landlock), those that left
    /// the group for a session of their own live on; and one that the kernel can not end yet
    /// is left to a thread that reaps it. The sandbox's own process may still be taking its
    /// namespaces down, which takes several times as long as a short command and is not
    /// waited for.
    pub(super) async fn finish(mut self) {
        if let Some(warden) = self.warden.take() {
            match timeout(VANISH, warden.empty()).await {
                Ok(true) => {
                    tokio::spawn(self.vanish());
                    return;
                }
                Ok(false) if timeout(VANISH, self.exit.readable()).await.is_ok() => {
                    self.leader.reap();
                    return;
                }
                _ => {}
            }
        }
        self.leader.signal(Signal::KILL);
        // Else the leader, dropped, is waited for elsewhere.
        if timeout(DEATH, self.exit.readable()).await.is_ok() {
            self.leader.reap();
        }
    }

    /// Waits for the sandbox's own end; a group that is dropped before is killed.
    async fn vanish(mut self) {
        if timeout(VANISH * 20, self.exit.readable()).await.is_ok() {
            self.leader.reap();
        }
    }
}

/// The ends of a command's pipes on this side.
pub(super) struct Streams {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

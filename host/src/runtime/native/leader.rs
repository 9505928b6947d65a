//! The first process of a command, by its number.
//!
//! Invariants: a signal is only sent while the process is not reaped, so that its number
//! can not belong to somebody else; dropped, it is killed with its group, and reaped.

use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, kill_process_group, waitid,
    waitpid,
};

/// A process that leads its own group.
#[derive(Debug)]
pub(super) struct Leader {
    id: Pid,
    is_reaped: bool,
}

impl Leader {
    /// Takes a child of this process that nobody else waits for.
    pub(super) fn new(id: Pid) -> Self {
        Self {
            id,
            is_reaped: false,
        }
    }

    /// How it ended; `None`: it has not yet, or is reaped.
    pub(super) fn status(&self) -> rustix::io::Result<Option<WaitIdStatus>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        waitid(WaitId::Pid(self.id), options)
    }

    /// The processor time that it has used itself, without its children; zero when it is
    /// reaped.
    pub(super) fn cpu_time(&self) -> Duration {
        // The clock of all threads of a process, as the kernel numbers it.
        const SCHEDULED: libc::clockid_t = 2;
        if self.is_reaped {
            return Duration::ZERO;
        }
        let clock = (!self.id.as_raw_nonzero().get() << 3) | SCHEDULED;
        // SAFETY: an all-zero `timespec` is a valid one, and is written.
        let (answer, used) = unsafe {
            let mut used: libc::timespec = std::mem::zeroed();
            (libc::clock_gettime(clock, &raw mut used), used)
        };
        match (answer, u64::try_from(used.tv_sec)) {
            (0, Ok(seconds)) => Duration::from_secs(seconds),
            _ => Duration::ZERO,
        }
    }

    /// Sends a signal to all of its group.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.is_reaped {
            let _ = kill_process_group(self.id, signal);
        }
    }

    /// Waits for its end, which has come or is near.
    pub(super) fn reap(&mut self) {
        // What is left of the group goes while its number is still taken.
        self.signal(Signal::KILL);
        if !std::mem::replace(&mut self.is_reaped, true) {
            reap(self.id);
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if std::mem::replace(&mut self.is_reaped, true) {
            return;
        }
        // A killed process is soon gone, but a future must not wait when it is dropped.
        let id = self.id;
        let thread = std::thread::Builder::new().name("prx-reaper".to_owned());
        if let Err(error) = thread.spawn(move || reap(id)) {
            tracing::warn!("no thread to reap a process with: {error}");
        }
    }
}

fn reap(id: Pid) {
    let _ = retry_on_intr(|| waitpid(Some(id), WaitOptions::empty()));
}

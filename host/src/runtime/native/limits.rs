//! The rlimits of `[security.resources]`, set in the child between fork and exec.
//!
//! * **Memory** is `RLIMIT_DATA`: the memory that a process writes to and shares with
//!   nobody. `RLIMIT_AS` would count address space too, and runtimes such as Node or
//!   Java, which reserve gigabytes and touch none of them, would not start under it. It
//!   holds for each process by itself, and shared mappings are not counted.
//! * **Processor time** is `RLIMIT_CPU`, also for each process by itself. A process that
//!   ignores the signal for it is killed a second later.
//! * **Processes**: `RLIMIT_NPROC` counts all processes and threads of a user. It is set
//!   only where a user namespace makes that the sandbox's own count, in bubblewrap, and
//!   even there the kernel does not hold the superuser to it.
//! * **Open files** is `RLIMIT_NOFILE`. Core files are never written.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

use crate::config::Resources;

/// What a process may use.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Bytes.
    pub(super) memory: u64,
    /// In whole seconds, at least one.
    pub(super) cpu_time: Duration,
    /// Processes that the command may start, besides itself.
    pub(super) subprocesses: u64,
    /// Open descriptors; `None`: as many as this process may have.
    pub(super) open_files: Option<u64>,
}

impl Limits {
    pub(super) fn of(resources: &Resources) -> Self {
        Self {
            memory: resources.max_memory_bytes.value,
            cpu_time: resources.max_cpu_time.value,
            subprocesses: resources.max_subprocesses.value,
            open_files: resources.max_open_files.as_ref().map(|files| files.value),
        }
    }

    /// Sets all but the number of processes and files, which would hold a sandbox up.
    /// Only makes system calls: it runs between fork and exec.
    pub(super) fn apply(&self) -> io::Result<()> {
        let seconds = self.cpu_time.as_secs().max(1);
        lower(Resource::Data, self.memory, self.memory)?;
        lower(Resource::Cpu, seconds, seconds.saturating_add(1))?;
        lower(Resource::Core, 0, 0)
    }

    /// Whether a process that ended by this signal, after so much processor time, was ended
    /// for that. One that ignores the signal for it is killed; the kernel does not say why.
    pub(super) fn ended(&self, signal: i32, used: Duration) -> bool {
        let least = self.cpu_time.max(Duration::from_secs(1));
        signal == Signal::XCPU.as_raw() || (signal == Signal::KILL.as_raw() && used >= least)
    }

    /// Sets the number of open files. Only makes system calls.
    pub(super) fn apply_open_files(&self) -> io::Result<()> {
        match self.open_files {
            Some(files) => lower(Resource::Nofile, files, files),
            None => Ok(()),
        }
    }
}

/// What `doctor` says of the limits.
pub(super) fn note() -> String {
    let processes = if rustix::process::geteuid().is_root() {
        "`max_subprocesses` does not hold, since the kernel exempts the superuser: run the \
         host as an ordinary user"
    } else {
        "`max_subprocesses` holds in the sandbox bubblewrap only, and counts threads"
    };
    format!("limits: memory and processor time hold for each process; {processes}")
}

/// Lowers a limit; one that is lower already stays.
fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(most)),
        maximum: Some(hard.min(most)),
    };
    setrlimit(resource, limit).map_err(io::Error::from)
}

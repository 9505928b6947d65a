//! The host's side of the warden: its program in memory, and the socket to it.
//!
//! Bubblewrap by itself reports a death by signal 9 as exit code 137, and a command that
//! it can not find as an exit with code 1. The warden, run by it as the first process of
//! the sandbox, tells these apart, see `program.rs`.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use tokio::net::UnixStream;

use super::Target;
use crate::runtime::native::launch::Launch;

/// The warden; empty where this build has none.
#[cfg(warden)]
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/warden"));
#[cfg(not(warden))]
const PROGRAM: &[u8] = &[];

/// Bytes of one message.
const PACKET: usize = 5;

/// The warden's program, in a file in memory that can not be changed.
#[derive(Debug)]
pub(in crate::runtime::native) struct Warden(Arc<OwnedFd>);

impl Warden {
    /// `None`: this build has none.
    pub(super) fn load() -> io::Result<Option<Self>> {
        if PROGRAM.is_empty() {
            return Ok(None);
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not know the flag, and allow it without.
        let file = memfd_create("warden", flags | MemfdFlags::EXEC)
            .or_else(|_| memfd_create("warden", flags))?;
        fill(&file, PROGRAM)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        Ok(Some(Self(Arc::new(file))))
    }

    /// Completes a sandbox's command: the warden, which runs the target. What runs, with
    /// which arguments and variables, is in a file in memory: arguments could be read by
    /// every user, variables would work on the sandbox's own program, and some sandboxes
    /// take only so many of either. Answers this side of the socket to the warden.
    pub(super) fn attach(
        &self,
        launch: &mut Launch,
        target: Target,
        processes: Option<u64>,
    ) -> io::Result<StdUnixStream> {
        let (ours, theirs) = StdUnixStream::pair()?;
        let order = memfd_create("order", MemfdFlags::CLOEXEC)?;
        let variables = write_order(&order, &target)?;
        let limit = |limit: Option<u64>| limit.map_or("-".to_owned(), |most| most.to_string());
        launch
            .arg(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
            .arg(theirs.as_raw_fd().to_string())
            .arg(self.0.as_raw_fd().to_string())
            .arg(limit(processes))
            .arg(limit(target.limits.open_files))
            .arg(order.as_raw_fd().to_string())
            .arg(target.argv.len().to_string())
            .arg(variables.to_string());
        let (limits, program) = (target.limits, Arc::clone(&self.0));
        let prepare = move || {
            limits.apply()?;
            for inherited in [&order, &*program] {
                fcntl_setfd(inherited, FdFlags::empty())?;
            }
            fcntl_setfd(&theirs, FdFlags::empty()).map_err(io::Error::from)
        };
        // SAFETY: the step only makes system calls.
        unsafe { launch.step(prepare) };
        Ok(ours)
    }
}

/// Writes what to run, and answers how many variables that has.
fn write_order(order: &OwnedFd, target: &Target) -> io::Result<usize> {
    let mut text = Vec::new();
    let mut push = |parts: &[&OsStr]| {
        for part in parts {
            text.extend_from_slice(part.as_bytes());
        }
        text.push(0);
    };
    push(&[target.file.as_os_str()]);
    for argument in &target.argv {
        push(&[argument]);
    }
    let mut variables = 0;
    for (name, value) in target.variables.iter() {
        push(&[name, OsStr::new("="), value]);
        variables += 1;
    }
    fill(order, &text)?;
    Ok(variables)
}

fn fill(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::write(file, bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// What the warden says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runtime::native) enum Word {
    /// The command could not be run, for this error of the system.
    NotRun(i32),
    /// The command ended.
    Ended {
        /// As `wait` has it.
        status: i32,
        /// In whole seconds, without its children; zero unless it was killed.
        cpu_time: Duration,
    },
    /// The warden was killed while the command ran, and the command with it.
    Killed,
}

/// The socket to a warden. Dropping it ends the sandbox.
pub(in crate::runtime::native) struct Link {
    stream: UnixStream,
    packet: [u8; PACKET],
    filled: usize,
    is_running: bool,
    cpu_time: Duration,
    is_deserted: bool,
}

impl Link {
    pub(in crate::runtime::native) fn new(stream: StdUnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            packet: [0; PACKET],
            filled: 0,
            is_running: false,
            cpu_time: Duration::ZERO,
            is_deserted: false,
        })
    }

    /// What became of the command; `None`: it never ran, and there is no warden. Nothing
    /// is lost when the future is dropped.
    pub(in crate::runtime::native) async fn word(&mut self) -> Option<Word> {
        loop {
            if !self.fill().await {
                return self.is_running.then_some(Word::Killed);
            }
            self.filled = 0;
            let [letter, value @ ..] = self.packet;
            let value = i32::from_le_bytes(value);
            match letter {
                b'x' => return Some(Word::NotRun(value)),
                b's' => {
                    let cpu_time = self.cpu_time;
                    let status = value;
                    return Some(Word::Ended { status, cpu_time });
                }
                b'c' => {
                    self.cpu_time = Duration::from_secs(value.try_into().unwrap_or_default());
                }
                _ => self.is_running = true,
            }
        }
    }

    /// Has every process of the sandbox killed, and waits until nobody but the warden is
    /// left; `false`: that it is gone is all that is known.
    pub(in crate::runtime::native) async fn empty(mut self) -> bool {
        let _ = self.stream.try_write(b"k");
        self.deserted().await
    }

    /// Waits until nobody but the warden is left; `false`: that it is gone is all that is
    /// known. Nothing is lost when the future is dropped.
    pub(in crate::runtime::native) async fn deserted(&mut self) -> bool {
        while !self.is_deserted && self.fill().await {
            self.filled = 0;
            self.is_deserted = self.packet[0] == b'e';
        }
        self.is_deserted
    }

    /// Reads a whole packet; `false`: there is none any more.
    async fn fill(&mut self) -> bool {
        while self.filled < PACKET {
            if self.stream.readable().await.is_err() {
                return false;
            }
            match self.stream.try_read(&mut self.packet[self.filled..]) {
                Ok(count @ 1..) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Sends SIGTERM to every process of the sandbox.
    pub(in crate::runtime::native) fn terminate(&mut self) {
        // A full socket would hold many of these already.
        let _ = self.stream.try_write(b"t");
    }
}

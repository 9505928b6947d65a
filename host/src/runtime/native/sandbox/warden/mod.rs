//! The host's side of the warden: its program in memory, and the socket to it.
//!
//! Bubblewrap by itself reports a death by signal 9 as exit code 137, and a command that
//! it can not find as an exit with code 1. The warden, run by it as the first process of
//! the sandbox, tells these apart, see `program.rs`.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use tokio::net::UnixStream;

/// The warden; empty where this build has none.
#[cfg(warden)]
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/warden"));
#[cfg(not(warden))]
const PROGRAM: &[u8] = &[];

/// Bytes of one message.
const PACKET: usize = 5;

/// A file in memory that holds the warden and can not be changed; `None`: not built in.
pub(in crate::runtime::native) fn program() -> io::Result<Option<OwnedFd>> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    if PROGRAM.is_empty() {
        return Ok(None);
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag, and allow it without.
    let file = memfd_create("warden", flags | MemfdFlags::EXEC)
        .or_else(|_| memfd_create("warden", flags))?;
    let mut rest = PROGRAM;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(Some(file))
}

/// What the warden says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runtime::native) enum Word {
    /// The command could not be run, for this error of the system.
    NotRun(i32),
    /// The command ended with this wait status.
    Ended(i32),
}

/// The socket to a warden. Dropping it ends the sandbox.
pub(in crate::runtime::native) struct Link {
    stream: UnixStream,
    packet: [u8; PACKET],
    filled: usize,
}

impl Link {
    pub(in crate::runtime::native) fn new(stream: StdUnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            packet: [0; PACKET],
            filled: 0,
        })
    }

    /// The next message; `None`: there is no warden any more. Nothing is lost when the
    /// future is dropped.
    pub(in crate::runtime::native) async fn word(&mut self) -> Option<Word> {
        while self.filled < PACKET {
            self.stream.readable().await.ok()?;
            match self.stream.try_read(&mut self.packet[self.filled..]) {
                Ok(0) => return None,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
        self.filled = 0;
        let [letter, value @ ..] = self.packet;
        let value = i32::from_le_bytes(value);
        match letter {
            b'x' => Some(Word::NotRun(value)),
            b's' => Some(Word::Ended(value)),
            _ => None,
        }
    }

    /// Sends SIGTERM to every process of the sandbox.
    pub(in crate::runtime::native) fn terminate(&mut self) {
        // A full socket would hold many of these already.
        let _ = self.stream.try_write(b"t");
    }
}

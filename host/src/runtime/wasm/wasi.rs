//! The WASI of one guest: its streams, variables, folders and sockets, as granted.
//!
//! Invariant: what can fail is done before the guest starts; the rest is made when the guest
//! first asks for any of it, so that one that only computes pays nothing for it.

use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::access::MissingFolder;
use super::call_state::Policy;
use super::network;
use super::process::Process;
use crate::model::{Access as FolderAccess, Captured, EventSink};
use crate::runtime::capture::{Capture, Stream};

/// A guest's WASI, in both versions, with the handles of the guest.
pub(super) struct Wasi {
    made: Option<Made>,
    /// Bytes kept of each output stream.
    max_output: u64,
    /// Hears of output.
    events: Option<EventSink>,
}

struct Made {
    context: WasiP1Ctx,
    stdout: Capture,
    stderr: Capture,
}

impl Wasi {
    /// What a guest has of WASI.
    ///
    /// # Errors
    ///
    /// When a granted folder can not be opened.
    pub fn new(
        policy: &Policy,
        max_output: u64,
        events: Option<EventSink>,
        process: Option<&Process<'_>>,
    ) -> Result<Self, MissingFolder> {
        let mut wasi = Self {
            made: None,
            max_output,
            events,
        };
        let folders = policy.access.folders();
        if process.is_none() && folders.is_empty() {
            return Ok(wasi);
        }
        let (mut context, streams) = wasi.begin(policy, process);
        for grant in folders {
            context
                .preopened_dir(&grant.host, &grant.guest, permissions(grant.access))
                .map_err(|error| MissingFolder::new(grant, &error))?;
        }
        if let Some(process) = process {
            process.enter(&mut context)?;
        }
        wasi.made = Some(Made::of(context, streams));
        Ok(wasi)
    }

    /// All of it, made now if it is not yet.
    pub fn get(&mut self, policy: &Policy) -> &mut WasiP1Ctx {
        if self.made.is_none() {
            let (context, streams) = self.begin(policy, None);
            self.made = Some(Made::of(context, streams));
        }
        let made = self.made.as_mut().expect("it was made");
        &mut made.context
    }

    /// Takes what the guest has written to standard output and standard error.
    pub fn output(&self) -> (Captured, Captured) {
        let made = self.made.as_ref();
        made.map(|made| (made.stdout.take(), made.stderr.take()))
            .unwrap_or_default()
    }

    /// Everything but folders and what belongs to a process.
    fn begin(
        &self,
        policy: &Policy,
        process: Option<&Process<'_>>,
    ) -> (WasiCtxBuilder, (Capture, Capture)) {
        let stdout = Capture::new(Stream::Stdout, self.max_output, self.events.clone());
        let stderr = Capture::new(Stream::Stderr, self.max_output, self.events.clone());
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(stdout.clone()).stderr(stderr.clone());
        let is_replaced =
            |name| process.is_some_and(|process| process.variables.contains_key(name));
        for (name, value) in policy.access.variables() {
            if !is_replaced(name) {
                wasi.env(name, value);
            }
        }
        if policy.access.network().is_empty() {
            wasi.allow_tcp(false).allow_udp(false);
        } else {
            wasi.allow_ip_name_lookup(true)
                .allow_tcp(true)
                .allow_udp(true)
                .socket_addr_check(network::socket_check(
                    policy.access.clone(),
                    policy.denials.clone(),
                ));
        }
        (wasi, (stdout, stderr))
    }
}

impl Made {
    fn of(mut context: WasiCtxBuilder, (stdout, stderr): (Capture, Capture)) -> Self {
        Self {
            context: context.build_p1(),
            stdout,
            stderr,
        }
    }
}

/// What a guest may do in a folder.
pub(super) fn permissions(access: FolderAccess) -> FsPerms {
    match access {
        FolderAccess::Read => FsPerms::ReadOnly,
        FolderAccess::Write => FsPerms::ReadWrite,
    }
}

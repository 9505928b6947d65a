//! What the calls of one tool entry may touch, made ready once when the entry is loaded.
//!
//! Invariant: a store gets exactly what stands here; what is missing here does not exist
//! for the guest.

use std::sync::Arc;

use indexmap::IndexMap;
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};
use wasmtime_wasi_http::WasiHttpCtx;

use super::call_state::{CallState, Denials};
use super::imports::{Services, StateGrant};
use super::limits::Limiter;
use super::network::{self, HttpPolicy};
use super::process::Process;
use super::state::Namespace;
use crate::model::{
    Access as FolderAccess, EventSink, FolderGrant, Grants, HostPattern, Shown as _,
};
use crate::runtime::capture::Capture;

/// The grants of an entry, in the form in which a call needs them.
pub struct Access {
    folders: Vec<FolderGrant>,
    variables: Vec<(String, String)>,
    network: Arc<[HostPattern]>,
    state: Option<StateGrant>,
    config: Arc<IndexMap<String, String>>,
}

/// A granted folder that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the granted folder `{}` (`{}` for the guest) can not be opened: {reason}", grant.host.shown(), grant.guest)]
pub struct MissingFolder {
    /// What was granted.
    pub grant: FolderGrant,
    /// What the system says.
    pub reason: String,
}

impl MissingFolder {
    pub(super) fn new(grant: &FolderGrant, error: &wasmtime::Error) -> Self {
        Self {
            grant: grant.clone(),
            reason: error.root_cause().to_string(),
        }
    }
}

impl Access {
    /// Nothing at all.
    pub fn none() -> Self {
        Self::new(&Grants::default(), None, IndexMap::new())
    }

    /// Exactly `grants`; `namespace` is used where state is among them.
    pub fn new(
        grants: &Grants,
        namespace: Option<Arc<Namespace>>,
        config: IndexMap<String, String>,
    ) -> Self {
        let state = namespace
            .filter(|_| grants.state_bytes > 0)
            .map(|namespace| StateGrant {
                namespace,
                quota: grants.state_bytes,
            });
        Self {
            folders: grants.folders.clone(),
            variables: grants
                .variables
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
                .collect(),
            network: grants.network.clone().into(),
            state,
            config: Arc::new(config),
        }
    }

    /// The folders that are granted.
    pub(super) fn folders(&self) -> &[FolderGrant] {
        &self.folders
    }

    /// The world of one call, or of one run of a command.
    pub(super) fn call_state(
        &self,
        max_memory: u64,
        (stdout, stderr): (Capture, Capture),
        events: Option<EventSink>,
        process: Option<&Process<'_>>,
    ) -> Result<CallState, MissingFolder> {
        let denials = Denials::default();
        Ok(CallState {
            wasi: self.wasi((stdout, stderr), &denials, process)?,
            http: WasiHttpCtx::new(),
            http_policy: HttpPolicy::new(Arc::clone(&self.network), denials.clone()),
            limiter: Limiter::new(max_memory),
            network: Arc::clone(&self.network),
            denials,
            services: Services::new(events, Arc::clone(&self.config), self.state.clone()),
        })
    }

    fn wasi(
        &self,
        (stdout, stderr): (Capture, Capture),
        denials: &Denials,
        process: Option<&Process<'_>>,
    ) -> Result<WasiP1Ctx, MissingFolder> {
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(stdout).stderr(stderr);
        let is_replaced =
            |name| process.is_some_and(|process| process.variables.contains_key(name));
        for (name, value) in &self.variables {
            if !is_replaced(name) {
                wasi.env(name, value);
            }
        }
        for grant in &self.folders {
            wasi.preopened_dir(&grant.host, &grant.guest, permissions(grant.access))
                .map_err(|error| MissingFolder::new(grant, &error))?;
        }
        if let Some(process) = process {
            process.enter(&mut wasi)?;
        }
        if self.network.is_empty() {
            wasi.allow_tcp(false).allow_udp(false);
        } else {
            wasi.allow_ip_name_lookup(true)
                .allow_tcp(true)
                .allow_udp(true)
                .socket_addr_check(network::socket_check(
                    Arc::clone(&self.network),
                    denials.clone(),
                ));
        }
        Ok(wasi.build_p1())
    }
}

/// What a guest may do in a folder.
pub(super) fn permissions(access: FolderAccess) -> FsPerms {
    match access {
        FolderAccess::Read => FsPerms::ReadOnly,
        FolderAccess::Write => FsPerms::ReadWrite,
    }
}

//! What a store holds during one call: the guest's world, and notes for the host.
//!
//! Invariant: made for a call from what was granted at load, and dropped with it.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::access::{Access, MissingFolder};
use super::imports::Services;
use super::limits::Limiter;
use super::process::Process;
use super::session::SessionLimits;
use super::wasi::Wasi;
use crate::model::{Capability, EventSink};

/// The data of a call's store.
pub struct CallState {
    /// WASI as granted.
    pub(super) wasi: Wasi,
    /// `wasi:http`.
    pub(super) http: WasiHttpCtx,
    /// What host functions decide by.
    pub(super) policy: Policy,
    /// Memory and tables.
    pub(super) limiter: Limiter,
    /// The `prx:skill` imports.
    pub(super) services: Services,
}

impl CallState {
    /// The world of one call, or of one run of a command.
    ///
    /// # Errors
    ///
    /// When a granted folder can not be opened.
    pub(super) fn new(
        access: &Access,
        limits: &SessionLimits,
        events: Option<EventSink>,
        process: Option<&Process<'_>>,
    ) -> Result<Self, MissingFolder> {
        let policy = Policy {
            access: access.clone(),
            denials: Denials::default(),
        };
        Ok(Self {
            wasi: Wasi::new(&policy, limits.max_output, events.clone(), process)?,
            http: WasiHttpCtx::new(),
            policy,
            limiter: Limiter::new(limits.max_memory),
            services: Services::new(events),
        })
    }
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi.get(&self.policy).ctx()
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: self.wasi.get(&self.policy).ctx().table,
            hooks: &mut self.policy,
        }
    }
}

/// What was granted to a call, and what it asked for beyond that.
pub(super) struct Policy {
    pub access: Access,
    pub denials: Denials,
}

/// What a guest asked for during a call and was refused. Clones share one list.
#[derive(Clone, Default)]
pub struct Denials(Arc<Mutex<Vec<Capability>>>);

impl Denials {
    /// More are not kept: a guest may ask for ever.
    const KEPT: usize = 16;

    /// Notes one refusal.
    pub fn note(&self, capability: Capability) {
        let mut denials = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if denials.len() < Self::KEPT && !denials.contains(&capability) {
            denials.push(capability);
        }
    }

    /// All refusals, in order.
    pub fn take(&self) -> Vec<Capability> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

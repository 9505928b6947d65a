//! What a store holds during one call: the guest's world, and notes for the host.
//!
//! Invariant: made for a call from what was granted at load, and dropped with it.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::imports::Services;
use super::limits::Limiter;
use super::network::HttpPolicy;
use crate::model::{Capability, HostPattern};

/// The data of a call's store.
pub struct CallState {
    /// WASI as granted, in both versions, and the handles of the guest.
    pub(super) wasi: WasiP1Ctx,
    /// `wasi:http`.
    pub(super) http: WasiHttpCtx,
    /// Decides about each outgoing request.
    pub(super) http_policy: HttpPolicy,
    /// Memory and tables.
    pub(super) limiter: Limiter,
    /// Hosts that may be reached.
    pub(super) network: Arc<[HostPattern]>,
    /// What was asked for and not granted.
    pub(super) denials: Denials,
    /// The `prx:skill` imports.
    pub(super) services: Services,
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi.ctx()
    }
}

impl WasiHttpView for CallState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: self.wasi.ctx().table,
            hooks: &mut self.http_policy,
        }
    }
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

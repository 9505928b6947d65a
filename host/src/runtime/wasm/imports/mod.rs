//! What modules may import: WASI 0.2, `prx:skill` and WASI 0.1, each as granted.
//!
//! Invariant: an import that was not granted is still linked and answers with an error,
//! so that a module runs as far as it can without it.

mod config;
mod files;
mod log;
mod missing;
pub(super) mod preview1;
mod progress;
mod sockets;
mod state;

use std::sync::Arc;

use wasmtime::component::{Component, HasSelf, Linker};

pub(super) use missing::missing;

use super::abi::skill::bindings;
use super::call_state::CallState;
use super::shape::{ExternName, WasmEncoding};
use super::state::Namespace;
use crate::model::EventSink;

/// Interfaces that the linker serves, with the newest version of each; older compatible
/// versions are served too. A test links a component that imports all of them.
pub const OFFERED: &[(&str, &str)] = &[
    ("prx:skill/config", "0.1.0"),
    ("prx:skill/log", "0.1.0"),
    ("prx:skill/progress", "0.1.0"),
    ("prx:skill/state", "0.1.0"),
    ("wasi:cli/environment", "0.2.12"),
    ("wasi:cli/exit", "0.2.12"),
    ("wasi:cli/stderr", "0.2.12"),
    ("wasi:cli/stdin", "0.2.12"),
    ("wasi:cli/stdout", "0.2.12"),
    ("wasi:cli/terminal-input", "0.2.12"),
    ("wasi:cli/terminal-output", "0.2.12"),
    ("wasi:cli/terminal-stderr", "0.2.12"),
    ("wasi:cli/terminal-stdin", "0.2.12"),
    ("wasi:cli/terminal-stdout", "0.2.12"),
    ("wasi:clocks/monotonic-clock", "0.2.12"),
    ("wasi:clocks/wall-clock", "0.2.12"),
    ("wasi:filesystem/preopens", "0.2.12"),
    ("wasi:filesystem/types", "0.2.12"),
    ("wasi:http/outgoing-handler", "0.2.12"),
    ("wasi:http/types", "0.2.12"),
    ("wasi:io/error", "0.2.12"),
    ("wasi:io/poll", "0.2.12"),
    ("wasi:io/streams", "0.2.12"),
    ("wasi:random/insecure", "0.2.12"),
    ("wasi:random/insecure-seed", "0.2.12"),
    ("wasi:random/random", "0.2.12"),
    ("wasi:sockets/instance-network", "0.2.12"),
    ("wasi:sockets/ip-name-lookup", "0.2.12"),
    ("wasi:sockets/network", "0.2.12"),
    ("wasi:sockets/tcp", "0.2.12"),
    ("wasi:sockets/tcp-create-socket", "0.2.12"),
    ("wasi:sockets/udp", "0.2.12"),
    ("wasi:sockets/udp-create-socket", "0.2.12"),
];

/// The version in which the linkers serve an import; `None`: they do not know it.
pub fn offered(encoding: WasmEncoding, import: &ExternName) -> Option<&'static str> {
    match encoding {
        WasmEncoding::Component => {
            let known = OFFERED.iter().find(|(name, _)| *name == import.name);
            known.map(|(_, version)| *version)
        }
        WasmEncoding::Core => preview1::offered(import),
    }
}

/// The host's side of the `prx:skill` imports during one call.
pub struct Services {
    /// Who listens to the call.
    pub events: Option<EventSink>,
    /// Spent on log messages.
    pub log: log::Budget,
    /// Spent on progress reports.
    pub progress: progress::Budget,
}

impl Services {
    /// Services of a call that starts.
    pub fn new(events: Option<EventSink>) -> Self {
        Self {
            events,
            log: log::Budget::default(),
            progress: progress::Budget::default(),
        }
    }
}

/// A store that a call may use, and how full it may become.
#[derive(Clone)]
pub struct StateGrant {
    /// The entry's own store.
    pub namespace: Arc<Namespace>,
    /// Bytes of keys and values.
    pub quota: u64,
}

/// Whether a component imports any of HTTP.
pub(super) fn wants_http(engine: &wasmtime::Engine, component: &Component) -> bool {
    let shape = component.component_type();
    shape
        .imports(engine)
        .any(|(name, _)| name.starts_with("wasi:http/"))
}

/// Links everything that a module may import, HTTP where it is wanted.
pub(super) fn add_to_linker(
    linker: &mut Linker<CallState>,
    with_http: bool,
) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    if with_http {
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    }
    files::replace_in_linker(linker)?;
    sockets::replace_in_linker(linker)?;
    bindings::log::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)?;
    bindings::config::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)?;
    bindings::progress::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)?;
    bindings::state::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)?;
    Ok(())
}

//! Calls of a host, and what is told of them and of everything else that happens in it.
//!
//! Invariant: every call of every front door comes this way, is numbered and told.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Host;
use crate::dispatch::{self, Rest};
use crate::events::{CallWatch, Events, Reloads};
use crate::model::{CallOptions, CallReport};
use crate::registry::Snapshot;

impl Host {
    /// Calls a tool by name. `arguments` is the JSON text of one object; empty text is
    /// `{}`.
    ///
    /// Never fails: how the call ended is the report's
    /// [`outcome`](CallReport::outcome). Dropping the returned future ends the call and
    /// everything that it started.
    pub async fn call(&self, name: &str, arguments: &str, options: CallOptions) -> CallReport {
        let snapshot = self.snapshot();
        let (report, rest) = self.call_in(&snapshot, name, arguments, options).await;
        drop(rest);
        report
    }

    /// As [`call`](Self::call), of the tool that is in this snapshot; what is left of the
    /// call is still to be dropped.
    pub(crate) async fn call_in(
        &self,
        snapshot: &Arc<Snapshot>,
        name: &str,
        arguments: &str,
        options: CallOptions,
    ) -> (CallReport, Rest) {
        let watch = self.watch_call(snapshot, (name, arguments), &options);
        let loader = &self.shared.loader;
        let ended = dispatch::call(snapshot, loader, name, arguments, options).await;
        if let Some(watch) = watch {
            watch.end(&ended.0);
        }
        ended
    }

    /// Numbers a call, and watches it where anybody hears of it.
    fn watch_call<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        call: (&'a str, &str),
        options: &CallOptions,
    ) -> Option<CallWatch<'a>> {
        let number = self.shared.calls.fetch_add(1, Ordering::Relaxed) + 1;
        CallWatch::begin(&self.shared.events, snapshot, number, call, options)
    }

    /// Says of a call that a front door refused it: there is no such tool for its caller.
    #[cfg(feature = "mcp")]
    pub(crate) fn refuse_call(&self, snapshot: &Snapshot, name: &str, options: &CallOptions) {
        if let Some(watch) = self.watch_call(snapshot, (name, ""), options) {
            watch.refuse();
        }
    }

    /// Hears of what happens in this host from now on: calls that begin and end, snapshots,
    /// what broke and was mended, configurations. A subscriber that is too slow loses events
    /// and hears how many; while nobody subscribes, events cost nothing.
    pub fn events(&self) -> Events {
        self.shared.events.subscribe()
    }

    /// How often what is in force changed since this host was opened.
    pub fn reloads(&self) -> Reloads {
        self.shared.reloads.now()
    }

    /// Places for calls of modules that are taken, of those that the engine keeps ready;
    /// `None`: it keeps none, or no module was called yet.
    #[cfg(feature = "wasm-runtime")]
    pub fn places_taken(&self) -> Option<(u32, u32)> {
        let all = crate::runtime::wasm::pool::PLACES;
        Some((self.shared.loader.places_taken()?, all))
    }
}

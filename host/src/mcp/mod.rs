//! The Model Context Protocol: agents use the tools of a [`Host`], over standard streams or
//! HTTP, in both eras of the protocol.
//!
//! Invariants: standard output belongs to the protocol alone; a client hears of each
//! snapshot that changes its tools, once; a call that its client does not want any more is
//! ended with everything that it started; what clients send and do not read is bounded.

mod announce;
mod answer;
mod cut;
mod error;
mod export;
#[allow(deprecated, reason = "clients of sessions have messages still")]
mod handler;
mod http;
mod listing;
mod stdio;
#[allow(deprecated, reason = "clients of sessions have messages still")]
mod telling;
mod wire;
mod words;

use std::io;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use globset::{Glob, GlobSet, GlobSetBuilder};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

pub use error::ServeError;
pub use export::ToolFormat;
pub use http::{HttpOptions, TlsFiles, serve_http};
pub use listing::ToolFilter;
pub use stdio::serve_stdio;
pub use words::words as model_words;

use self::listing::Listing;
use self::wire::{Refusal, To};
use crate::host::Host;

/// What a server offers, and how much of it at a time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Which tools are offered.
    pub filter: ToolFilter,
    /// Tools in one page of a list. Many clients read the first page only.
    pub page_size: usize,
    /// Characters of text in one result; the rest is cut off with a note.
    pub max_result_chars: usize,
    /// Calls that run at one time; more wait.
    pub max_calls: usize,
    /// Calls that wait at one time; more are refused.
    pub max_waiting: usize,
    /// Bytes of one message over standard streams; a longer one is refused and skipped.
    pub max_line_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            filter: ToolFilter::default(),
            page_size: 1_000,
            max_result_chars: 50_000,
            max_calls: 256,
            max_waiting: 2_048,
            max_line_bytes: 16 << 20,
        }
    }
}

/// Bytes of requests that are held at one time, for all clients together.
const MEMORY: usize = 128 << 20;

impl ToolFilter {
    /// Offers only tools whose names match one of these globs, where there are any, and
    /// none that matches one of the others; with `read_only`, only tools that change
    /// nothing.
    ///
    /// # Errors
    ///
    /// The first glob that is none, and why.
    pub fn new(allow: &[String], deny: &[String], read_only: bool) -> Result<Self, globset::Error> {
        Ok(Self {
            allow: globs(allow)?,
            deny: globs(deny)?,
            read_only,
        })
    }
}

fn globs(patterns: &[String]) -> Result<Option<GlobSet>, globset::Error> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern)?);
    }
    set.build().map(Some)
}

/// A host as its clients see it. Shared by all of them.
pub(crate) struct Server {
    host: Host,
    options: ServeOptions,
    listing: ArcSwapOption<Listing>,
    /// Places for calls that run or wait.
    queue: Semaphore,
    /// Places for calls that run.
    calls: Semaphore,
    /// Memory for what clients send.
    memory: Arc<Semaphore>,
    /// Ends all calls.
    last: CancellationToken,
}

impl Server {
    /// A server for the clients of a host.
    pub fn new(host: Host, options: ServeOptions) -> Arc<Self> {
        Arc::new(Self {
            queue: Semaphore::new(options.max_calls + options.max_waiting),
            calls: Semaphore::new(options.max_calls),
            memory: Arc::new(Semaphore::new(MEMORY)),
            last: CancellationToken::new(),
            listing: ArcSwapOption::empty(),
            host,
            options,
        })
    }

    /// A place among those that run and wait.
    ///
    /// # Errors
    ///
    /// There is none.
    fn enter(&self, to: impl FnOnce() -> To) -> Result<SemaphorePermit<'_>, Refusal> {
        self.queue.try_acquire().map_err(|_| {
            let ServeOptions {
                max_calls,
                max_waiting,
                ..
            } = self.options;
            let text = format!(
                "{max_calls} calls are running and {max_waiting} wait already; try again in a second"
            );
            Refusal::busy(to(), text)
        })
    }

    /// How many calls wait for a place.
    fn waiting(&self) -> usize {
        let ServeOptions {
            max_calls,
            max_waiting,
            ..
        } = self.options;
        let begun = (max_calls + max_waiting).saturating_sub(self.queue.available_permits());
        begun.saturating_sub(max_calls.saturating_sub(self.calls.available_permits()))
    }

    /// Waits for so many bytes of the memory for what clients send.
    async fn hold(&self, bytes: usize) -> io::Result<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes.min(MEMORY)).unwrap_or(u32::MAX);
        let memory = Arc::clone(&self.memory);
        let held = memory.acquire_many_owned(bytes).await;
        held.map_err(io::Error::other)
    }

    /// Waits until no call is running, and lets none begin any more.
    async fn idle(&self) {
        let all = u32::try_from(self.options.max_calls).unwrap_or(u32::MAX);
        if let Ok(places) = self.calls.acquire_many(all).await {
            places.forget();
        }
    }

    /// The tools of this moment, converted once for each snapshot.
    fn listing(&self) -> Arc<Listing> {
        let snapshot = self.host.snapshot();
        if let Some(listing) = self.listing.load_full()
            && Arc::ptr_eq(&listing.snapshot, &snapshot)
        {
            return listing;
        }
        let listing = Arc::new(Listing::new(&snapshot, &self.options.filter));
        self.listing.store(Some(Arc::clone(&listing)));
        listing
    }
}

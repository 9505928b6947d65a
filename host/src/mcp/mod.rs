//! The Model Context Protocol: agents use the tools of a [`Host`], over standard streams or
//! HTTP, in both eras of the protocol.
//!
//! Invariants: standard output belongs to the protocol alone; a client hears of each
//! change of what it is offered, once; what is not offered any more is refused to the very
//! next request; a call that its client does not want any more is ended with everything that
//! it started; what clients send and do not read is bounded.

mod alone;
mod announce;
mod answer;
#[allow(deprecated, reason = "clients of sessions follow files still")]
mod asking;
mod calling;
mod cut;
mod error;
mod export;
#[allow(deprecated, reason = "clients of sessions have messages still")]
mod handler;
mod http;
mod listing;
mod memory;
#[allow(deprecated, reason = "clients of sessions have messages still")]
mod offers;
mod options;
mod pages;
mod stdio;
#[allow(deprecated, reason = "clients of sessions have messages still")]
mod telling;
mod wire;
mod words;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::{Semaphore, SemaphorePermit, broadcast};
use tokio_util::sync::CancellationToken;

pub use error::{ServeError, TlsPart};
pub use export::ToolFormat;
pub use http::{HttpOptions, TlsFiles, read_token, serve_http};
pub use listing::ToolFilter;
pub use options::{Narrowing, ServeOptions};
pub use stdio::serve_stdio;
pub use words::words as model_words;

use self::announce::News;
use self::memory::Memory;
use self::offers::Offers;
use self::offers::kept::Kept;
use self::wire::{Refusal, To};
use crate::config::ReloadMethod;
use crate::host::Host;

/// A host as its clients see it. Shared by all of them.
pub(crate) struct Server {
    host: Host,
    options: ServeOptions,
    offers: ArcSwapOption<Offers>,
    /// Answers that were too long to be shown.
    kept: Kept,
    /// For all clients.
    news: broadcast::Sender<Arc<News>>,
    /// Places for looks at files.
    looks: Arc<Semaphore>,
    /// Places for calls that wait.
    queue: Semaphore,
    /// Places for calls that run.
    calls: Semaphore,
    memory: Memory,
    /// Ends all calls.
    last: CancellationToken,
}

impl Server {
    /// A server for the clients of a host.
    pub fn new(host: Host, options: ServeOptions) -> Arc<Self> {
        Arc::new(Self {
            queue: Semaphore::new(options.max_waiting),
            calls: Semaphore::new(options.max_calls),
            memory: Memory::new(options.max_answer_bytes),
            last: CancellationToken::new(),
            offers: ArcSwapOption::empty(),
            kept: Kept::default(),
            news: broadcast::Sender::new(announce::BACKLOG),
            looks: Arc::new(Semaphore::new(asking::LOOKS)),
            host,
            options,
        })
    }

    /// A place among those that wait.
    ///
    /// # Errors
    ///
    /// There is none.
    fn enter(&self, to: To) -> Result<SemaphorePermit<'_>, Refusal> {
        self.queue.try_acquire().map_err(|_| self.busy(to))
    }

    /// Whether there is room for one more call, to run or to wait.
    ///
    /// # Errors
    ///
    /// There is none.
    fn has_room(&self, to: &To) -> Result<(), Refusal> {
        let room = self.calls.available_permits() + self.queue.available_permits();
        if room == 0 {
            return Err(self.busy(to.clone()));
        }
        Ok(())
    }

    fn busy(&self, to: To) -> Refusal {
        let ServeOptions {
            max_calls,
            max_waiting,
            ..
        } = self.options;
        let text = format!(
            "{max_calls} calls are running and {max_waiting} wait already; try again in a second"
        );
        Refusal::busy(to, text)
    }

    /// How many calls wait for a place.
    fn waiting(&self) -> usize {
        let free = self.queue.available_permits();
        self.options.max_waiting.saturating_sub(free)
    }

    /// Waits until no call is running, and lets none begin any more.
    async fn idle(&self) {
        let all = u32::try_from(self.options.max_calls).unwrap_or(u32::MAX);
        if let Ok(places) = self.calls.acquire_many(all).await {
            places.forget();
        }
    }

    /// Whether anybody looks for changes of files.
    fn follows_files(&self) -> bool {
        self.host.config().runtime.reload.method.value != ReloadMethod::Off
    }

    /// What is offered at this moment, made once for each snapshot and configuration.
    fn offers(&self) -> Arc<Offers> {
        let (snapshot, config) = (self.host.snapshot(), self.host.config());
        if let Some(offers) = self.offers.load_full()
            && offers.are_of(&snapshot, &config)
        {
            return offers;
        }
        let offers = Arc::new(Offers::new(&snapshot, &config, &self.options));
        self.offers.store(Some(Arc::clone(&offers)));
        offers
    }
}

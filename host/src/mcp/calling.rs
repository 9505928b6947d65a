//! Calls of tools: who may call what, and the way of a call from its place to its answer.
//!
//! Invariant: what runs is what the caller was found to be offered, in the same snapshot;
//! whoever does not want an answer any more ends what was begun for it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use tokio_util::sync::CancellationToken;

use super::cut::Room;
use super::memory::Held;
use super::offers::Offers;
use super::telling::Ears;
use super::wire::{Refusal, To};
use super::{Server, answer};
use crate::dispatch::Rest;
use crate::model::{CallOptions, CallReport};

/// How a client came to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By its name, which must be offered.
    Tool,
    /// By a resource or a prompt, which the operator put before it.
    Behind,
}

/// Who asks for a call.
pub(super) struct Asker {
    /// What it calls itself.
    pub name: Option<Arc<str>>,
    /// Cancelled when it does not want the answer any more, or the server ends.
    pub cancel: CancellationToken,
    /// What it wants to hear meanwhile; `None`: nothing.
    pub ears: Option<Ears>,
    /// Whether it can follow a link to what was cut.
    pub knows_links: bool,
    /// The memory of its request, which is that of the answer, too.
    pub held: Option<Held>,
}

/// A call that ran.
pub(super) struct Ran {
    pub report: CallReport,
    /// What is left of it, for after the answer.
    pub rest: Rest,
    /// What was offered when it began.
    pub offers: Arc<Offers>,
}

impl Server {
    /// Whether a name is that of a tool for this client. What is known and broken is said by
    /// the call; what is hidden is not there.
    fn admit(&self, name: &str, way: Way, offers: &Offers, asker: &Asker) -> Result<(), ErrorData> {
        let (listing, filter) = (&offers.listing, &offers.options.filter);
        let snapshot = &listing.snapshot;
        let is_admitted = match way {
            Way::Behind => filter.admits_behind(snapshot.tool(name)),
            Way::Tool if listing.has(name) => true,
            Way::Tool if snapshot.tool(name).is_some() => false,
            Way::Tool => snapshot.is_known(name) && filter.admits_name(name),
        };
        if is_admitted {
            return Ok(());
        }
        if way == Way::Behind {
            let text = "only what changes nothing is offered here, and this may change something";
            return Err(ErrorData::invalid_params(text, None));
        }
        let options = CallOptions {
            client: asker.name.clone(),
            ..CallOptions::default()
        };
        self.host.refuse_call(snapshot, name, &options);
        Err(answer::unknown(name, listing.nearest(name)))
    }

    /// Calls a tool by its name. What is left of the call is for after the answer.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &str,
        asker: Asker,
    ) -> Result<(CallToolResult, Rest), ErrorData> {
        let kept = asker.knows_links.then_some(&self.kept);
        let Some(ran) = self.run(name, Way::Tool, arguments, asker).await? else {
            let result = CallToolResult::error(vec![ContentBlock::text("cancelled")]);
            return Ok((result, Rest::default()));
        };
        let mut room = Room::new(ran.offers.options.max_result_chars, kept);
        let listed = ran.offers.listing.tool(name);
        room.keeps_structure = listed.is_some_and(|tool| tool.output_schema.is_some());
        let result = answer::answer(name, ran.report.outcome, &mut room)?;
        Ok((result, ran.rest))
    }

    /// Runs one call to its end, whoever asked for it; `None`: it was cancelled before it
    /// began.
    pub(super) async fn run(
        &self,
        name: &str,
        way: Way,
        arguments: &str,
        mut asker: Asker,
    ) -> Result<Option<Ran>, ErrorData> {
        let mut offers = self.offers();
        self.admit(name, way, &offers, &asker)?;
        if asker.cancel.is_cancelled() {
            return Ok(None);
        }
        let (events, teller) = asker.ears.take().and_then(Ears::open).unzip();
        let mut waited = Duration::ZERO;
        let _place = if let Ok(place) = self.calls.try_acquire() {
            place
        } else {
            let since = Instant::now();
            let _waiting = self.enter(To::Unknown).map_err(Refusal::into_error)?;
            let place = tokio::select! {
                biased;
                () = asker.cancel.cancelled() => None,
                place = self.calls.acquire() => place.ok(),
            };
            let Some(place) = place else {
                return Ok(None);
            };
            waited = since.elapsed();
            // While it waited, another one may have come that is not offered.
            offers = self.offers();
            self.admit(name, way, &offers, &asker)?;
            place
        };
        let options = CallOptions {
            timeout: None,
            cancel: Some(asker.cancel.clone()),
            events,
            client: asker.name,
            waited,
        };
        let snapshot = &offers.listing.snapshot;
        let call = self.host.call_in(snapshot, name, arguments, options);
        // One that panics must be answered, too.
        let Ok((report, rest)) = AssertUnwindSafe(call).catch_unwind().await else {
            let text = "the host failed in this call";
            return Err(ErrorData::internal_error(text, None));
        };
        if let Some(held) = &asker.held {
            let bytes = report.outcome.answer_bytes();
            tokio::select! {
                biased;
                () = self.memory.answer(held, bytes) => {}
                () = asker.cancel.cancelled() => {}
            }
        }
        if let Some(teller) = teller {
            teller.finish().await;
        }
        Ok(Some(Ran {
            report,
            rest,
            offers,
        }))
    }
}

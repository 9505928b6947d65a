//! What one client asks, and what it is answered.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::FutureExt as _;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::announce::Followed;
use super::cut::Room;
use super::offers::Offers;
use super::telling::Ears;
use super::wire::{Arguments, Refusal, To};
use super::words::unknown_method;
use super::{Server, announce, answer};
use crate::model::{CallOptions, CallReport};

/// How a client came to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By its name, which must be offered.
    Tool,
    /// By a resource or a prompt, which the operator put before it.
    Behind,
}

/// One client of a server: a connection, a session, or a single request.
#[derive(Clone)]
pub(crate) struct Client {
    pub(super) server: Arc<Server>,
    /// The files that this session follows.
    pub(super) followed: Arc<Followed>,
    /// The messages that this session wants; sessions that never said so hear what an
    /// operator would.
    level: Arc<Mutex<LoggingLevel>>,
    /// Ends with the session, and what was started for it then ends, too.
    lives: Arc<DropGuard>,
    follows: Arc<AtomicBool>,
}

impl Client {
    pub fn new(server: Arc<Server>) -> Self {
        Self {
            server,
            followed: Arc::default(),
            level: Arc::new(Mutex::new(LoggingLevel::Info)),
            lives: Arc::new(CancellationToken::new().drop_guard()),
            follows: Arc::default(),
        }
    }

    /// The least level of the messages that are wanted with a request. Requests of the
    /// stateless era say so themselves, or want none.
    fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if is_stateless(context) {
            return context.meta.log_level();
        }
        Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a name is that of a tool for this client. What is known and broken is said by
    /// the call; what is hidden is not there.
    fn admit(
        &self,
        name: &str,
        way: Way,
        offers: &Offers,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (listing, filter) = (&offers.listing, &offers.options.filter);
        let snapshot = &listing.snapshot;
        let is_admitted = match way {
            Way::Behind => filter.admits_behind(snapshot.tool(name)),
            Way::Tool if snapshot.tool(name).is_some() => listing.has(name),
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
            client: client_name(context),
            ..CallOptions::default()
        };
        self.server.host.refuse_call(snapshot, name, &options);
        Err(answer::unknown(name, listing.nearest(name)))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let (server, name) = (&self.server, request.name.as_ref());
        let offers = server.offers();
        self.admit(name, Way::Tool, &offers, &context)?;
        // As the client wrote them, so that what is wrong with them shows.
        let lost = || ErrorData::internal_error("the arguments were lost", None);
        let arguments = Arguments::of(&context.extensions).cloned();
        let arguments = &arguments.ok_or_else(lost)?.text;
        let knows_links = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str());
        let Some(report) = self.run(name, Way::Tool, arguments, context).await? else {
            return Ok(CallToolResult::error(vec![ContentBlock::text("cancelled")]));
        };
        let kept = knows_links.then_some(&server.kept);
        let mut room = Room::new(offers.options.max_result_chars, kept);
        let listed = offers.listing.tool(name);
        room.keeps_structure = listed.is_some_and(|tool| tool.output_schema.is_some());
        answer::answer(name, report.outcome, &mut room)
    }

    /// Runs one call to its end, whoever asked for it; `None`: it was cancelled before it
    /// began.
    pub(super) async fn run(
        &self,
        name: &str,
        way: Way,
        arguments: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<Option<CallReport>, ErrorData> {
        let server = &self.server;
        let _queued = server.enter(|| To::Unknown).map_err(Refusal::into_error)?;
        let ears = Ears {
            level: self.level(&context),
            token: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            tool: name.to_owned(),
        };
        let (events, teller) = ears.open().unzip();
        // Ended by its client, or with the server.
        let cancel = server.last.child_token();
        let asked = Instant::now();
        let place = tokio::select! {
            biased;
            () = context.ct.cancelled() => None,
            () = server.last.cancelled() => None,
            place = server.calls.acquire() => place.ok(),
        };
        if place.is_none() {
            return Ok(None);
        }
        // While it waited, another one may have come that is not offered.
        let offers = server.offers();
        self.admit(name, way, &offers, &context)?;
        let options = CallOptions {
            timeout: None,
            cancel: Some(cancel.clone()),
            events,
            client: client_name(&context),
            waited: asked.elapsed(),
        };
        let snapshot = &offers.listing.snapshot;
        let call = server.host.call_in(snapshot, name, arguments, options);
        let call = AssertUnwindSafe(call);
        let mut call = std::pin::pin!(call.catch_unwind());
        let ended = tokio::select! {
            ended = &mut call => ended,
            () = context.ct.cancelled() => {
                cancel.cancel();
                call.await
            }
        };
        // One that panics must be answered, too.
        let Ok(report) = ended else {
            return Err(ErrorData::internal_error(
                "the host failed in this call",
                None,
            ));
        };
        if let Some(teller) = teller {
            teller.finish().await;
        }
        Ok(Some(report))
    }
}

/// Whether a request is of the era without sessions.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let first = ProtocolVersion::V_2026_07_28;
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= first.as_str())
}

/// What a client calls itself, cut where that is no name any more.
fn client_name(context: &RequestContext<RoleServer>) -> Option<Arc<str>> {
    const MOST: usize = 64;
    let name = context.client_info()?.name;
    Some(match name.char_indices().nth(MOST) {
        None => name.into(),
        Some((end, _)) => name[..end].into(),
    })
}

impl ServerHandler for Client {
    fn get_info(&self) -> ServerConfig {
        let offers = self.server.offers();
        let program = Implementation::new("prx-host", env!("CARGO_PKG_VERSION"));
        let config = ServerConfig::new(offers.capabilities(self.server.follows_files()))
            .with_server_info(program);
        match &offers.options.instructions {
            Some(text) => config.with_instructions(text.clone()),
            None => config,
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offers = self.server.offers();
        offers.listing.page(request, offers.options.page_size)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.offers().listing.tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await.map(Into::into)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // It may say so more than once.
        if !self.follows.swap(true, Relaxed) {
            let gone = self.lives.token().clone();
            let followed = Arc::clone(&self.followed);
            announce::follow(&self.server, context.peer, followed, gone);
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources(request).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.templates(request)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read(&request.uri, context).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.follow(request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts(request)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, context).await.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let completion = self.server.offers().complete(&request)?;
        Ok(CompleteResult::new(completion))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let text = unknown_method(&request.method, is_stateless(&context));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed();
        let followed = announce::followed(requested);
        Some(filter.resource_subscriptions(followed).build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        announce::listen(&self.server, &subscription).await;
        Ok(())
    }
}

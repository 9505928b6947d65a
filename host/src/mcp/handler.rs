//! What one client asks, and what it is answered.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::FutureExt as _;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::telling::Ears;
use super::wire::{Arguments, Refusal, To};
use super::{Server, announce, answer};
use crate::model::CallOptions;

/// One client of a server: a connection, a session, or a single request.
#[derive(Clone)]
pub(crate) struct Client {
    server: Arc<Server>,
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
            level: Arc::new(Mutex::new(LoggingLevel::Info)),
            lives: Arc::new(CancellationToken::new().drop_guard()),
            follows: Arc::default(),
        }
    }

    /// The least level of the messages that are wanted with a request. Requests of the
    /// stateless era say so themselves, or want none.
    fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        let is_stateless = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        if is_stateless {
            return context.meta.log_level();
        }
        Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a name is that of a tool for this client. What is known and broken is said by
    /// the call; what is hidden is not there.
    fn admit(&self, name: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let listing = self.server.listing();
        let snapshot = &listing.snapshot;
        let is_hidden = snapshot.tool(name).is_some() || !snapshot.is_known(name);
        if listing.has(name) || !is_hidden {
            return Ok(());
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
        self.admit(name, &context)?;
        let _queued = server.enter(|| To::Unknown).map_err(Refusal::into_error)?;
        // As the client wrote them, so that what is wrong with them shows.
        let lost = || ErrorData::internal_error("the arguments were lost", None);
        let arguments = Arguments::of(&context.extensions).cloned();
        let arguments = &arguments.ok_or_else(lost)?.text;
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
            return Ok(CallToolResult::error(vec![ContentBlock::text("cancelled")]));
        }
        let options = CallOptions {
            timeout: None,
            cancel: Some(cancel.clone()),
            events,
            client: client_name(&context),
            waited: asked.elapsed(),
        };
        let call = AssertUnwindSafe(server.host.call(name, arguments, options));
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
        answer::answer(name, report.outcome, server.options.max_result_chars)
    }
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
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let program = Implementation::new("prx-host", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(program)
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
        let cursor = request.and_then(|request| request.cursor);
        let listing = self.server.listing();
        listing.page(cursor.as_deref(), &self.server.options)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.listing().tool(name).cloned()
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
            announce::follow(&self.server, context.peer, gone);
        }
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        announce::listen(&self.server, &subscription).await;
        Ok(())
    }
}

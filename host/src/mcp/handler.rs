//! What one client asks, and what it is answered.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::announce::Followed;
use super::calling::Asker;
use super::memory::Held;
use super::telling::Ears;
use super::wire::Arguments;
use super::words::unknown_method;
use super::{Server, announce};

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

    /// Who asks for a call of a tool, with a request.
    fn asker(&self, tool: &str, context: &RequestContext<RoleServer>) -> Asker {
        let version = context.protocol_version();
        let is_since = |first| is_since(version.as_ref(), &first);
        // Requests of the stateless era say themselves what they want to hear, or want
        // nothing.
        let level = if is_since(ProtocolVersion::V_2026_07_28) {
            context.meta.log_level()
        } else {
            Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let ears = Ears {
            level,
            token: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            tool: tool.to_owned(),
        };
        // Ended by its client, or with the server.
        let cancel = self.server.last.child_token();
        Asker {
            name: context.client_info().map(|client| known_as(&client.name)),
            cancel,
            ears: Some(ears),
            knows_links: is_since(ProtocolVersion::V_2025_06_18),
            held: Held::of(&context.extensions).cloned(),
        }
    }

    /// Waits for a call that is begun for a request; one that its client cancels ends soon.
    pub(super) async fn asked<T, F: Future<Output = T>>(
        &self,
        tool: &str,
        context: &RequestContext<RoleServer>,
        begin: impl FnOnce(Asker) -> F,
    ) -> T {
        let asker = self.asker(tool, context);
        let cancel = asker.cancel.clone();
        let mut call = std::pin::pin!(begin(asker));
        tokio::select! {
            biased;
            () = context.ct.cancelled() => cancel.cancel(),
            done = &mut call => return done,
        }
        call.await
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let name = request.name.as_ref();
        // As the client wrote them, so that what is wrong with them shows.
        let lost = || ErrorData::internal_error("the arguments were lost", None);
        let arguments = Arguments::of(&context.extensions).cloned();
        let arguments = arguments.ok_or_else(lost)?;
        let call = |asker| self.server.call(name, &arguments.0, asker);
        let (result, rest) = self.asked(name, &context, call).await?;
        drop(rest);
        Ok(result)
    }
}

/// Whether a revision of the protocol is that one or a later one.
fn is_since(version: Option<&ProtocolVersion>, first: &ProtocolVersion) -> bool {
    version.is_some_and(|version| version.as_str() >= first.as_str())
}

/// What a client calls itself, cut where that is no name any more.
pub(super) fn known_as(name: &str) -> Arc<str> {
    const MOST: usize = 64;
    match name.char_indices().nth(MOST) {
        None => name.into(),
        Some((end, _)) => name[..end].into(),
    }
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
        let version = context.protocol_version();
        let is_stateless = is_since(version.as_ref(), &ProtocolVersion::V_2026_07_28);
        let text = unknown_method(&request.method, is_stateless);
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

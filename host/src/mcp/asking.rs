//! What clients ask besides tools: resources, prompts, values to choose from.
//!
//! Invariant: files are looked at on threads that may block, a few at a time, and nobody
//! waits for them for ever.

use std::sync::Arc;
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, GetPromptRequestParams, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, PromptMessage,
    ReadResourceResult, ResourceContents, Role,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tokio::time::timeout;

use super::Server;
use super::answer;
use super::calling::Way;
use super::cut::Room;
use super::handler::Client;
use super::memory::Held;
use super::offers::{FolderError, Found, Making, contents, kept};
use super::pages::page;
use crate::model::{Content, ResourceBody, ToolOutput};

/// Looks at folders at one time.
pub(super) const LOOKS: usize = 8;
/// How long one may take: some file systems never answer.
const LOOKING: Duration = Duration::from_secs(30);
/// What those hear who would follow a file where none is followed.
const UNFOLLOWED: &str = "no resource can be followed: this host does not look for changes \
    while `runtime.reload.method` is \"off\" in its configuration; it does with \"auto\" or \"poll\"";

impl Server {
    /// Looks at files, off the threads that serve.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let busy = || ErrorData::internal_error("the files can not be read at the moment", None);
        let place = Arc::clone(&self.looks).acquire_owned();
        let looked = timeout(LOOKING, async move {
            let place = place.await.ok()?;
            let look = move || {
                let _place = place;
                look()
            };
            tokio::task::spawn_blocking(look).await.ok()
        });
        looked.await.ok().flatten().ok_or_else(busy)
    }
}

impl Client {
    pub(super) async fn resources(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let offers = self.server.offers();
        let resources = Arc::clone(&offers.resources);
        let all = if resources.has_files() {
            self.server.look(move || resources.listed()).await?
        } else {
            resources.listed()
        };
        let (items, next) = page(&all, request, offers.options.page_size)?;
        let mut listed = ListResourcesResult::with_all_items(items);
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) fn templates(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let offers = self.server.offers();
        let all = offers.resources.templates();
        let (items, next) = page(&all, request, offers.options.page_size)?;
        let mut listed = ListResourceTemplatesResult::with_all_items(items);
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) fn prompts(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let offers = self.server.offers();
        let (items, next) = page(&offers.prompts.listed, request, offers.options.page_size)?;
        let mut listed = ListPromptsResult::with_all_items(items);
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) async fn read(
        &self,
        uri: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        if uri.starts_with(kept::PREFIX) {
            let text = self.server.kept.read(uri).ok_or_else(|| {
                not_there(
                    uri,
                    "this answer is not kept any more: call the tool again, or ask it for a part",
                )
            })?;
            self.hold(&context, text.len()).await;
            return Ok(ReadResourceResult::new(vec![ResourceContents::text(
                &*text, uri,
            )]));
        }
        let offers = self.server.offers();
        match offers.resources.find(uri) {
            None => Err(not_there(uri, "`resources/list` has all there are")),
            Some(Found::File { files, path }) => {
                let (files, at) = (files.clone(), path.clone());
                let read = self.server.look(move || files.read(&at)).await?;
                let bytes = read.map_err(|error| match error {
                    FolderError::Missing => not_there(uri, &error.to_string()),
                    FolderError::Unreadable(ref cause) | FolderError::NoFolder(ref cause) => {
                        tracing::warn!(uri, "{error} ({cause})");
                        ErrorData::internal_error(error.to_string(), None)
                    }
                    FolderError::TooLarge(_) => ErrorData::internal_error(error.to_string(), None),
                })?;
                self.hold(&context, bytes.len()).await;
                Ok(ReadResourceResult::new(vec![contents(uri, &path, bytes)]))
            }
            Some(Found::Answer { answer, values }) => {
                let arguments = answer.arguments(values, &offers.listing.snapshot);
                let output = self.output(&answer.tool, &arguments, context).await?;
                let kind = answer.media_type.as_deref();
                Ok(ReadResourceResult::new(of_output(output, uri, kind)))
            }
        }
    }

    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResult, ErrorData> {
        let offers = self.server.offers();
        let arguments = request.arguments.unwrap_or_default();
        let snapshot = &offers.listing.snapshot;
        let messages = match offers.prompts.make(&request.name, arguments, snapshot)? {
            Making::Text(text) => vec![PromptMessage::new_text(Role::User, text)],
            Making::Tool { tool, arguments } => {
                let output = self.output(tool, &arguments, context).await?;
                let mut room = Room::new(offers.options.max_result_chars, None);
                let blocks = answer::blocks(output, &mut room).into_iter();
                blocks
                    .map(|block| PromptMessage::new(Role::User, block))
                    .collect()
            }
        };
        let mut result = GetPromptResult::new(messages);
        let listed = offers.prompts.listed.get(&request.name);
        result.description = listed.and_then(|prompt| prompt.description.clone());
        Ok(result)
    }

    /// Waits for the memory of an answer, unless nobody wants it any more.
    async fn hold(&self, context: &RequestContext<RoleServer>, bytes: usize) {
        if let Some(held) = Held::of(&context.extensions) {
            tokio::select! {
                biased;
                () = self.server.memory.answer(held, bytes as u64) => {}
                () = context.ct.cancelled() => {}
            }
        }
    }

    /// What a tool answers that is behind something else.
    async fn output(
        &self,
        tool: &str,
        arguments: &str,
        context: RequestContext<RoleServer>,
    ) -> Result<ToolOutput, ErrorData> {
        let call = |asker| self.server.run(tool, Way::Behind, arguments, asker);
        match self.asked(tool, &context, call).await? {
            Some(ran) => answer::output(tool, ran.report.outcome),
            None => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    /// Follows a file, or does not any more.
    pub(super) async fn follow(&self, uri: String) -> Result<(), ErrorData> {
        if !self.server.follows_files() {
            return Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                UNFOLLOWED,
                None,
            ));
        }
        let offers = self.server.offers();
        let Some(Found::File { files, path }) = offers.resources.find(&uri) else {
            return Err(not_there(
                &uri,
                "only files of `resources/list` can be followed",
            ));
        };
        let written = files.uri(&path);
        if written != uri {
            return Err(not_there(&uri, &format!("its address is `{written}`")));
        }
        let files = files.clone();
        if self.server.look(move || files.look(&path)).await?.is_none() {
            return Err(not_there(&uri, &FolderError::Missing.to_string()));
        }
        self.followed.add(uri)
    }
}

/// Nothing is at an address.
fn not_there(uri: &str, why: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).flat_map(char::escape_debug).collect();
    ErrorData::resource_not_found(
        format!("there is no resource `{shown}`: {why}"),
        Some(json!({ "uri": uri })),
    )
}

/// An answer as what is read at an address.
fn of_output(output: ToolOutput, uri: &str, kind: Option<&str>) -> Vec<ResourceContents> {
    let text_kind = match kind {
        Some(kind) => kind,
        None if output.says_its_structure() => "application/json",
        None => "text/plain",
    };
    let ToolOutput {
        contents,
        structured,
    } = output;
    let blob = |bytes: &[u8], uri: &str, kind: &str| {
        ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind)
    };
    if let (true, Some(structured)) = (contents.is_empty(), structured) {
        let text = ResourceContents::text(structured.to_string(), uri);
        return vec![text.with_mime_type(kind.unwrap_or("application/json"))];
    }
    let contents = contents.into_iter().map(|content| match content {
        Content::Text { text } => ResourceContents::text(text, uri).with_mime_type(text_kind),
        Content::Image(media) | Content::Audio(media) => blob(&media.data, uri, &media.media_type),
        Content::Resource { resource } => {
            let kind = resource.media_type.as_deref().or(kind);
            match resource.body {
                ResourceBody::Text(text) => ResourceContents::text(text, resource.uri)
                    .with_mime_type(kind.unwrap_or("text/plain")),
                ResourceBody::Blob(bytes) => blob(
                    &bytes,
                    &resource.uri,
                    kind.unwrap_or("application/octet-stream"),
                ),
            }
        }
    });
    contents.collect()
}

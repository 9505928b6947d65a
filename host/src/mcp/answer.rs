//! How a call ended, as the Model Context Protocol says it: what a model can mend is a
//! result with `isError`, what no model can mend is an error of the protocol.
//!
//! Invariant: structure stands beside nothing but its own text. Several clients show a
//! model the structure alone, and a picture beside it would be lost.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ResourceContents};

use super::cut::Room;
use crate::model::{
    Content, Denial, EmbeddedResource, LimitKind, Outcome, ResourceBody, ToolError, ToolErrorKind,
    ToolOutput, Trap, TrapKind, format_bytes,
};

/// The result of a call, as far as there is room for it.
pub(super) fn answer(
    tool: &str,
    outcome: Outcome,
    room: &mut Room<'_>,
) -> Result<CallToolResult, ErrorData> {
    let mut result = match said(tool, outcome)? {
        Ok(output) => success(output, room),
        Err(text) => CallToolResult::error(vec![ContentBlock::text(room.fit(text))]),
    };
    let links = room.links.drain(..).map(ContentBlock::ResourceLink);
    result.content.extend(links);
    Ok(result)
}

/// What a tool answered that is behind something else, which has no errors of its own.
pub(super) fn output(tool: &str, outcome: Outcome) -> Result<ToolOutput, ErrorData> {
    let kind = match &outcome {
        Outcome::UnknownTool { .. } => {
            let text = format!("`{tool}`, which would answer, is not there");
            return Err(ErrorData::internal_error(text, None));
        }
        Outcome::InvalidArguments(_) => ErrorCode::INVALID_PARAMS,
        Outcome::ToolError(error) => match error.kind {
            ToolErrorKind::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
            ToolErrorKind::InvalidArguments => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::INTERNAL_ERROR,
        },
        _ => ErrorCode::INTERNAL_ERROR,
    };
    said(tool, outcome)?.map_err(|text| ErrorData::new(kind, text, None))
}

/// The answer of a call that succeeded, or what a model can mend.
fn said(tool: &str, outcome: Outcome) -> Result<Result<ToolOutput, String>, ErrorData> {
    Ok(Err(match outcome {
        Outcome::Ok(output) => return Ok(Ok(output)),
        Outcome::UnknownTool { name, nearest } => return Err(unknown(&name, nearest.as_deref())),
        Outcome::Internal { reason } => {
            return Err(ErrorData::internal_error(
                format!("the host failed: {reason}"),
                None,
            ));
        }
        Outcome::ToolError(error) => of_tool(error),
        Outcome::InvalidArguments(faults) => {
            let faults: Vec<String> = faults.iter().map(|fault| format!("- {fault}")).collect();
            format!("The arguments do not fit `{tool}`:\n{}", faults.join("\n"))
        }
        Outcome::Denied(denial) => denied(tool, &denial),
        Outcome::TimedOut { limit, .. } => format!(
            "`{tool}` was stopped after {} s, which is all the time it has. Ask for less at a time.",
            limit.as_secs_f64()
        ),
        Outcome::OutOfMemory { limit, .. } => format!(
            "`{tool}` needs more than the {} of memory that it has. Ask for less at a time.",
            format_bytes(limit)
        ),
        Outcome::LimitReached { kind, limit } => of_limit(tool, kind, limit),
        Outcome::Trapped(trap) => of_trap(tool, &trap),
        Outcome::Unavailable { reason, .. } => format!("`{tool}` can not be called now: {reason}."),
        Outcome::Cancelled => format!("The call of `{tool}` was cancelled."),
    }))
}

/// There is no such tool, for this client.
pub(super) fn unknown(name: &str, nearest: Option<&str>) -> ErrorData {
    let shown: String = name
        .chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect();
    let text = match nearest {
        Some(nearest) => format!("unknown tool `{shown}`; did you mean `{nearest}`?"),
        None => format!("unknown tool `{shown}`"),
    };
    ErrorData::invalid_params(text, None)
}

fn success(mut output: ToolOutput, room: &mut Room<'_>) -> CallToolResult {
    let is_text = |content: &Content| matches!(content, Content::Text { .. });
    let only_text = output.contents.iter().all(is_text);
    let is_said = output.says_its_structure();
    let structured = output.structured.take();
    let mut blocks = blocks(output, room);
    if let Some(structured) = &structured
        && !is_said
    {
        // For clients that know no structure.
        let text = room.cut(structured.to_string(), room.most);
        blocks.insert(0, ContentBlock::text(text));
    }
    // Structure that is too long is left out, unless clients were promised some.
    let is_shown = only_text && (room.keeps_structure || !room.has_cut);
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured.filter(|_| is_shown);
    result
}

/// An answer as blocks, without its structure unless there is nothing else.
pub(super) fn blocks(output: ToolOutput, room: &mut Room<'_>) -> Vec<ContentBlock> {
    let ToolOutput {
        contents,
        structured,
    } = output;
    let contents = contents.into_iter();
    let mut blocks: Vec<_> = contents.map(|content| block(content, room)).collect();
    if let (true, Some(structured)) = (blocks.is_empty(), structured) {
        blocks.push(ContentBlock::text(room.fit(structured.to_string())));
    }
    blocks
}

fn block(content: Content, room: &mut Room<'_>) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(room.fit(text)),
        Content::Image(media) => ContentBlock::image(STANDARD.encode(media.data), media.media_type),
        Content::Audio(media) => ContentBlock::audio(STANDARD.encode(media.data), media.media_type),
        Content::Resource { resource } => ContentBlock::resource(of_resource(resource, room)),
    }
}

fn of_resource(resource: EmbeddedResource, room: &mut Room<'_>) -> ResourceContents {
    let EmbeddedResource {
        uri,
        media_type,
        body,
    } = resource;
    let contents = match body {
        ResourceBody::Text(text) => ResourceContents::text(room.fit(text), uri),
        ResourceBody::Blob(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    match media_type {
        Some(media_type) => contents.with_mime_type(media_type),
        None => contents,
    }
}

fn of_tool(error: ToolError) -> String {
    let mut said = error.message;
    if let Some(hint) = error.hint {
        said.push('\n');
        said.push_str(&hint);
    }
    if let Some(data) = error.data {
        said.push('\n');
        said.push_str(&data.to_string());
    }
    said
}

fn denied(tool: &str, denial: &Denial) -> String {
    match &denial.capability {
        Some(capability) => format!(
            "`{tool}` may not do that: {capability} is not granted to it. Only a person can grant it, in the configuration of the host. ({})",
            denial.message
        ),
        None => format!("`{tool}` may not do that: {}", denial.message),
    }
}

fn of_limit(tool: &str, kind: LimitKind, limit: u64) -> String {
    match kind {
        LimitKind::ArgumentBytes => format!(
            "The arguments have more than the {} that a call may have.",
            format_bytes(limit)
        ),
        LimitKind::OutputBytes => format!(
            "`{tool}` answered with more than the {} that an answer may have. Ask for less at a time.",
            format_bytes(limit)
        ),
        _ => format!("`{tool}` was ended at a limit of the host ({limit})."),
    }
}

fn of_trap(tool: &str, trap: &Trap) -> String {
    let how = match trap.kind {
        TrapKind::StackOverflow => "its calls are nested too deeply",
        _ => "it has a fault of its own",
    };
    let words = trap.message.trim();
    if words.is_empty() {
        format!("`{tool}` broke down: {how}.")
    } else {
        format!("`{tool}` broke down: {how} ({words}).")
    }
}

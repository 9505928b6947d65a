//! How a call ended, as the Model Context Protocol says it: what a model can mend is a
//! result with `isError`, what no model can mend is an error of the protocol.
//!
//! Invariant: structure stands beside nothing but its own text. Several clients show a
//! model the structure alone, and a picture beside it would be lost.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ResourceContents};

use super::cut::Room;
use super::words::{unknown_tool, words};
use crate::model::{
    Content, EmbeddedResource, Media, Outcome, ResourceBody, ToolErrorKind, ToolOutput,
    format_bytes,
};

/// Pictures that models see.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Bytes that a picture may have in base64, which is how APIs count them.
const MAX_IMAGE_BYTES: usize = 5 << 20;

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
    match outcome {
        Outcome::Ok(output) => Ok(Ok(output)),
        Outcome::UnknownTool { .. } => Err(ErrorData::invalid_params(words(tool, &outcome), None)),
        Outcome::Internal { .. } => Err(ErrorData::internal_error(words(tool, &outcome), None)),
        _ => Ok(Err(words(tool, &outcome))),
    }
}

/// There is no such tool, for this client.
pub(super) fn unknown(name: &str, nearest: Option<&str>) -> ErrorData {
    ErrorData::invalid_params(unknown_tool(name, nearest), None)
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
        Content::Image(media) => image(media),
        Content::Audio(media) => ContentBlock::audio(STANDARD.encode(media.data), media.media_type),
        Content::Resource { resource } => ContentBlock::resource(of_resource(resource, room)),
    }
}

/// A picture, or a note in the place of one that clients do not take: an API refuses the
/// whole conversation for it.
fn image(media: Media) -> ContentBlock {
    let kind = match media.media_type.to_ascii_lowercase() {
        kind if kind == "image/jpg" => "image/jpeg".to_owned(),
        kind => kind,
    };
    let encoded_bytes = media.data.len().div_ceil(3) * 4;
    let why = if !IMAGES.contains(&kind.as_str()) {
        let shown: String = media.media_type.chars().take(100).collect();
        format!("it is `{}`", shown.escape_debug())
    } else if encoded_bytes > MAX_IMAGE_BYTES {
        format!("it has {}", format_bytes(media.data.len() as u64))
    } else {
        return ContentBlock::image(STANDARD.encode(media.data), kind);
    };
    ContentBlock::text(format!(
        "[The host left out a picture: {why}. Models see PNG, JPEG, GIF and WebP, up to 5 MB in base64.]"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_no_model_sees_is_left_out_with_a_note() {
        let shown = |kind: &str, bytes: usize| {
            let media = Media {
                data: vec![0; bytes],
                media_type: kind.to_owned(),
            };
            let output = ToolOutput {
                contents: vec![Content::Image(media)],
                structured: None,
            };
            let result = success(output, &mut Room::new(1_000, None));
            serde_json::to_value(&result.content).unwrap()[0].clone()
        };
        assert_eq!(shown("image/png", 10)["mimeType"], "image/png");
        assert_eq!(shown("image/JPG", 10)["mimeType"], "image/jpeg");
        assert_eq!(shown("image/webp", 3_932_160)["type"], "image");
        let large = shown("image/webp", 3_932_161);
        assert!(
            large["text"].as_str().unwrap().contains("it has 3.7 MiB"),
            "{large}"
        );
        let other = shown("image/svg+xml\n", 10);
        assert!(
            other["text"]
                .as_str()
                .unwrap()
                .contains(r"`image/svg+xml\n`"),
            "{other}"
        );
    }
}

//! How a call ended, as the Model Context Protocol says it: what a model can mend is a
//! result with `isError`, what no model can mend is an error of the protocol.
//!
//! Invariant: structure stands beside nothing but its own text. Several clients show a
//! model the structure alone, and a picture beside it would be lost.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::cut::cut;
use super::words::{unknown_tool, words};
use crate::model::{
    Content, EmbeddedResource, Media, Outcome, ResourceBody, ToolOutput, format_bytes,
};

/// Pictures that models see.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Bytes that a picture may have in base64, which is how APIs count them.
const MAX_IMAGE_BYTES: usize = 5 << 20;

/// The result of a call, with at most `most` characters of text.
pub(super) fn answer(
    tool: &str,
    outcome: Outcome,
    most: usize,
) -> Result<CallToolResult, ErrorData> {
    let said = match outcome {
        Outcome::Ok(output) => return Ok(success(output, most)),
        Outcome::UnknownTool { name, nearest } => return Err(unknown(&name, nearest.as_deref())),
        Outcome::Internal { .. } => {
            return Err(ErrorData::internal_error(words(tool, &outcome), None));
        }
        _ => words(tool, &outcome),
    };
    Ok(CallToolResult::error(vec![ContentBlock::text(cut(
        said, most,
    ))]))
}

/// There is no such tool, for this client.
pub(super) fn unknown(name: &str, nearest: Option<&str>) -> ErrorData {
    ErrorData::invalid_params(unknown_tool(name, nearest), None)
}

fn success(output: ToolOutput, most: usize) -> CallToolResult {
    let ToolOutput {
        contents,
        structured,
    } = output;
    let is_text = |content: &Content| matches!(content, Content::Text { .. });
    let only_text = contents.iter().all(is_text);
    let mut blocks = Vec::with_capacity(contents.len() + 1);
    let mut rest = most;
    for content in contents {
        blocks.push(block(content, &mut rest));
    }
    if let Some(structured) = &structured
        && !blocks.iter().any(|block| says(block, structured))
    {
        // For clients that know no structure.
        blocks.insert(0, ContentBlock::text(cut(structured.to_string(), most)));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured.filter(|_| only_text);
    result
}

/// Whether a block is the text of this structure already.
fn says(block: &ContentBlock, structured: &Value) -> bool {
    let text = block.as_text().map(|text| text.text.as_str());
    text.is_some_and(|text| {
        serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured)
    })
}

fn block(content: Content, rest: &mut usize) -> ContentBlock {
    match content {
        Content::Text { text } => {
            let text = cut(text, *rest);
            *rest = rest.saturating_sub(text.chars().count());
            ContentBlock::text(text)
        }
        Content::Image(media) => image(media),
        Content::Audio(media) => ContentBlock::audio(STANDARD.encode(media.data), media.media_type),
        Content::Resource { resource } => ContentBlock::resource(of_resource(resource, *rest)),
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

fn of_resource(resource: EmbeddedResource, most: usize) -> ResourceContents {
    let EmbeddedResource {
        uri,
        media_type,
        body,
    } = resource;
    let contents = match body {
        ResourceBody::Text(text) => ResourceContents::text(cut(text, most), uri),
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
            let result = success(output, 1_000);
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

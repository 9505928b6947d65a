//! Answers of a skill in the words of the model. A skill that breaks its contract, for
//! instance with text that is no JSON, is told so as an error of the tool.

use serde_json::Value;

use super::bindings::tools;
use crate::model::{
    Content, EmbeddedResource, Media, ResourceBody, ToolError, ToolErrorKind, ToolOutput,
};

/// Bytes of a media type or URI that are worth passing on.
const MAX_NAME_BYTES: usize = 4096;

pub(super) fn output(output: tools::Output) -> Result<ToolOutput, ToolError> {
    let structured = match output.structured {
        None => None,
        Some(text) => Some(object(&text)?),
    };
    let contents: Vec<Content> = output
        .contents
        .into_iter()
        .map(content)
        .collect::<Result<_, _>>()?;
    Ok(ToolOutput {
        contents,
        structured,
    })
}

pub(super) fn error(error: tools::Error) -> ToolError {
    let (data, hint) = match error.data.as_deref().map(serde_json::from_str) {
        None => (None, None),
        Some(Ok(data)) => (Some(data), None),
        Some(Err(fault)) => (
            None,
            Some(format!(
                "the skill's `data` was left out: it is no JSON ({fault})"
            )),
        ),
    };
    ToolError {
        kind: error.kind.into(),
        message: error.message,
        data,
        hint,
    }
}

fn object(text: &str) -> Result<Value, ToolError> {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(ToolError::broken_contract("`structured` is no JSON object")),
        Err(fault) => Err(ToolError::broken_contract(format_args!(
            "`structured` is no JSON: {fault}"
        ))),
    }
}

fn content(content: tools::Content) -> Result<Content, ToolError> {
    Ok(match content {
        tools::Content::Text(text) => Content::Text { text },
        tools::Content::Image(image) => Content::Image(media(image, "image/")?),
        tools::Content::Audio(audio) => Content::Audio(media(audio, "audio/")?),
        tools::Content::Resource(resource) => Content::Resource {
            resource: embedded(resource)?,
        },
    })
}

fn media(media: tools::Media, prefix: &str) -> Result<Media, ToolError> {
    let name = media.media_type;
    if !name.starts_with(prefix) || !is_media_type(&name) {
        return Err(ToolError::broken_contract(format_args!(
            "`{}` is no media type `{prefix}…`",
            cut(&name)
        )));
    }
    Ok(Media {
        data: media.data,
        media_type: name,
    })
}

fn embedded(resource: tools::EmbeddedResource) -> Result<EmbeddedResource, ToolError> {
    let uri = resource.uri;
    let scheme_end = uri.find(':').unwrap_or(0);
    let scheme = &uri[..scheme_end];
    let is_uri = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && uri.len() <= MAX_NAME_BYTES
        && !uri.contains(|c: char| c.is_control() || c == ' ');
    if !is_uri {
        return Err(ToolError::broken_contract(format_args!(
            "`{}` is no URI",
            cut(&uri)
        )));
    }
    if let Some(name) = &resource.media_type
        && !is_media_type(name)
    {
        return Err(ToolError::broken_contract(format_args!(
            "`{}` is no media type",
            cut(name)
        )));
    }
    let body = match resource.body {
        tools::ResourceBody::Text(text) => ResourceBody::Text(text),
        tools::ResourceBody::Blob(bytes) => ResourceBody::Blob(bytes),
    };
    Ok(EmbeddedResource {
        uri,
        media_type: resource.media_type,
        body,
    })
}

/// `type/subtype` with optional parameters, as RFC 6838 spells it.
fn is_media_type(name: &str) -> bool {
    let essence = name.split(';').next().unwrap_or_default().trim();
    let part = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| {
                c.is_ascii_alphanumeric()
                    || matches!(c, '!' | '#' | '$' | '&' | '-' | '^' | '_' | '.' | '+')
            })
    };
    name.len() <= MAX_NAME_BYTES
        && !name.contains(char::is_control)
        && essence
            .split_once('/')
            .is_some_and(|(kind, subtype)| part(kind) && part(subtype))
}

fn cut(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

impl From<tools::ErrorKind> for ToolErrorKind {
    fn from(kind: tools::ErrorKind) -> Self {
        match kind {
            tools::ErrorKind::InvalidArguments => Self::InvalidArguments,
            tools::ErrorKind::Denied => Self::Denied,
            tools::ErrorKind::NotFound => Self::NotFound,
            tools::ErrorKind::Conflict => Self::Conflict,
            tools::ErrorKind::Unavailable => Self::Unavailable,
            tools::ErrorKind::Failed => Self::Failed,
        }
    }
}

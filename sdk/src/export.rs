//! The component's exports, answered by a [`Skill`]. Only moves values between this
//! crate's types and the generated ones.

use crate::bindings::exports::prx::skill::tools as wit;
use crate::error::{ErrorKind, ToolError};
use crate::output::{Content, Media, Output, Resource, ResourceBody};
use crate::skill::Skill;
use crate::tool::{Capability, Hints, Request, ToolSpec};

/// Answers `describe`.
pub fn describe(skill: &Skill) -> Vec<wit::ToolSpec> {
    skill.describe().into_iter().map(tool_spec).collect()
}

/// Answers `call`.
///
/// # Errors
///
/// What the tool says.
pub fn call(skill: &Skill, name: &str, arguments: &str) -> Result<wit::Output, wit::Error> {
    skill.call(name, arguments).map(output).map_err(error)
}

fn tool_spec(spec: ToolSpec) -> wit::ToolSpec {
    let Hints {
        read_only,
        destructive,
        idempotent,
        open_world,
    } = spec.hints;
    wit::ToolSpec {
        name: spec.name.to_owned(),
        title: spec.title.map(str::to_owned),
        description: spec.description.to_owned(),
        input_schema: spec.input_schema.as_value().to_string(),
        output_schema: spec
            .output_schema
            .map(|schema| schema.as_value().to_string()),
        hints: wit::Hints {
            read_only,
            destructive,
            idempotent,
            open_world,
        },
        requests: spec.requests.iter().map(request).collect(),
    }
}

fn request(request: &Request) -> wit::Request {
    wit::Request {
        capability: match request.capability {
            Capability::ReadFolder(path) => wit::Capability::ReadFolder(path.to_owned()),
            Capability::WriteFolder(path) => wit::Capability::WriteFolder(path.to_owned()),
            Capability::Variable(name) => wit::Capability::Variable(name.to_owned()),
            Capability::Network(host) => wit::Capability::Network(host.to_owned()),
            Capability::State => wit::Capability::State,
        },
        reason: request.reason.to_owned(),
        optional: request.optional,
    }
}

fn output(output: Output) -> wit::Output {
    wit::Output {
        contents: output.contents.into_iter().map(content).collect(),
        structured: output.structured,
    }
}

fn content(content: Content) -> wit::Content {
    match content {
        Content::Text(text) => wit::Content::Text(text),
        Content::Image(image) => wit::Content::Image(media(image)),
        Content::Audio(audio) => wit::Content::Audio(media(audio)),
        Content::Resource(Resource {
            uri,
            media_type,
            body,
        }) => {
            let body = match body {
                ResourceBody::Text(text) => wit::ResourceBody::Text(text),
                ResourceBody::Blob(data) => wit::ResourceBody::Blob(data),
            };
            wit::Content::Resource(wit::EmbeddedResource {
                uri,
                media_type,
                body,
            })
        }
    }
}

fn media(Media { data, media_type }: Media) -> wit::Media {
    wit::Media { data, media_type }
}

fn error(error: ToolError) -> wit::Error {
    let (kind, message, data) = error.into_parts();
    let kind = match kind {
        ErrorKind::InvalidArguments => wit::ErrorKind::InvalidArguments,
        ErrorKind::Denied => wit::ErrorKind::Denied,
        ErrorKind::NotFound => wit::ErrorKind::NotFound,
        ErrorKind::Conflict => wit::ErrorKind::Conflict,
        ErrorKind::Unavailable => wit::ErrorKind::Unavailable,
        ErrorKind::Failed => wit::ErrorKind::Failed,
    };
    wit::Error {
        kind,
        message,
        data,
    }
}

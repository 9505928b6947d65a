//! The answer of a call that succeeded, and the types that can become one.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::error::ToolError;

/// An answer put together piece by piece: texts, pictures, sounds, documents.
///
/// ```
/// use prx_skill::prelude::*;
///
/// /// Draw a grey square.
/// #[tool(read_only)]
/// fn square(
///     /// The length of a side, in pixels.
///     size: u8,
/// ) -> Output {
///     let png = draw(size);
///     Output::new().text(format!("A square of {size} pixels.")).image(png, "image/png")
/// }
/// # fn draw(_: u8) -> Vec<u8> { vec![0x89] }
/// # assert_eq!(square(8).contents.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What to show, in order. May be empty when [`structured`](Self::structured) is
    /// given: the host then shows its JSON text.
    pub contents: Vec<Content>,
    /// The same answer for programs: the text of one JSON object.
    pub structured: Option<String>,
}

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Plain text or Markdown.
    Text(String),
    /// A picture; most clients show `image/png`, `image/jpeg`, `image/gif` and
    /// `image/webp`.
    Image(Media),
    /// A sound, for instance `audio/wav`.
    Audio(Media),
    /// A document that travels with the answer.
    Resource(Resource),
}

/// Bytes and what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The bytes; the host encodes them.
    pub data: Vec<u8>,
    /// A media type (RFC 6838), for instance `image/png`.
    pub media_type: String,
}

/// A document that travels with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// A URI (RFC 3986) that names the document. Nobody has to be able to open it.
    pub uri: String,
    /// For instance `text/markdown`.
    pub media_type: Option<String>,
    /// What is in it.
    pub body: ResourceBody,
}

/// Text, or bytes that are not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes; the host encodes them.
    Blob(Vec<u8>),
}

impl Content {
    /// Plain text or Markdown.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A picture of this media type.
    pub fn image(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self::Image(Media {
            data: data.into(),
            media_type: media_type.into(),
        })
    }

    /// A sound of this media type.
    pub fn audio(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self::Audio(Media {
            data: data.into(),
            media_type: media_type.into(),
        })
    }
}

impl Resource {
    /// A document made of text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            media_type: None,
            body: ResourceBody::Text(text.into()),
        }
    }

    /// A document made of bytes.
    pub fn blob(uri: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            uri: uri.into(),
            media_type: None,
            body: ResourceBody::Blob(data.into()),
        }
    }

    /// Says what the document is, for instance `text/csv`.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

impl Output {
    /// An answer with nothing in it yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds plain text or Markdown.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.content(Content::text(text))
    }

    /// Adds a picture of this media type.
    #[must_use]
    pub fn image(self, data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        self.content(Content::image(data, media_type))
    }

    /// Adds a sound of this media type.
    #[must_use]
    pub fn audio(self, data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        self.content(Content::audio(data, media_type))
    }

    /// Adds a document.
    #[must_use]
    pub fn resource(self, resource: Resource) -> Self {
        self.content(Content::Resource(resource))
    }

    /// Adds one piece.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.contents.push(content.into());
        self
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Resource> for Content {
    fn from(resource: Resource) -> Self {
        Self::Resource(resource)
    }
}

impl<C: Into<Content>> From<C> for Output {
    fn from(content: C) -> Self {
        Self {
            contents: vec![content.into()],
            structured: None,
        }
    }
}

impl<C: Into<Content>> FromIterator<C> for Output {
    fn from_iter<I: IntoIterator<Item = C>>(contents: I) -> Self {
        Self {
            contents: contents.into_iter().map(Into::into).collect(),
            structured: None,
        }
    }
}

/// A type that knows how it becomes an answer. Implement it for types of your own
/// that several tools return; types without it need `Serialize` and `JsonSchema`.
pub trait IntoOutput {
    /// JSON Schema of the [`structured`](Output::structured) answer, if there always
    /// is one: an object type.
    fn output_schema() -> Option<Schema>
    where
        Self: Sized,
    {
        None
    }

    /// Makes the answer.
    ///
    /// # Errors
    ///
    /// When the value has no form that a caller could read.
    fn into_output(self) -> Result<Output, ToolError>;
}

/// A structured answer together with contents of one's own choice, for people.
///
/// ```
/// use prx_skill::prelude::*;
///
/// #[data]
/// struct Sum { total: i64 }
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> Structured<Sum> {
///     Structured::new(Sum { total: a + b }).text(format!("{a} + {b} = {}", a + b))
/// }
/// # assert_eq!(add(1, 2).value.total, 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structured<T> {
    /// The answer for programs.
    pub value: T,
    /// The answer for people; empty: they see the JSON text of `value`.
    pub contents: Vec<Content>,
}

impl<T> Structured<T> {
    /// A structured answer, so far without contents of its own.
    pub fn new(value: T) -> Self {
        Self {
            value,
            contents: Vec::new(),
        }
    }

    /// Adds plain text or Markdown.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.content(Content::text(text))
    }

    /// Adds one piece.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.contents.push(content.into());
        self
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for Structured<T> {
    fn output_schema() -> Option<Schema> {
        Some(crate::plumbing::schema::answer::<T>())
    }

    fn into_output(self) -> Result<Output, ToolError> {
        let structured = crate::plumbing::answer::to_object(&self.value)?;
        Ok(Output {
            contents: self.contents,
            structured: Some(structured),
        })
    }
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, ToolError> {
        Ok(self)
    }
}

/// An answer without words: the call succeeded, there is nothing to say.
impl IntoOutput for () {
    fn into_output(self) -> Result<Output, ToolError> {
        Ok(Output::new())
    }
}

impl IntoOutput for Vec<Content> {
    fn into_output(self) -> Result<Output, ToolError> {
        Ok(Output {
            contents: self,
            structured: None,
        })
    }
}

macro_rules! one_piece {
    ($($type:ty),*) => {$(
        impl IntoOutput for $type {
            fn into_output(self) -> Result<Output, ToolError> {
                Ok(Output { contents: vec![Content::from(self)], structured: None })
            }
        }
    )*};
}
one_piece!(String, &str, Content, Resource);

impl IntoOutput for Cow<'_, str> {
    fn into_output(self) -> Result<Output, ToolError> {
        self.into_owned().into_output()
    }
}

impl IntoOutput for Box<str> {
    fn into_output(self) -> Result<Output, ToolError> {
        self.into_string().into_output()
    }
}

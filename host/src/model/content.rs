//! The answer of a successful call: contents for people and models, structure for programs.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The answer of a call that succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What to show, in order. Empty with [`structured`](Self::structured), front doors
    /// show its JSON text; empty without it, the tool did its work and has nothing to say.
    pub contents: Vec<Content>,
    /// The same answer as one JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

impl ToolOutput {
    /// All text contents, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .contents
            .iter()
            .filter_map(|content| match content {
                Content::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Whether one of the texts is the structure as JSON.
    #[cfg(feature = "mcp")]
    pub(crate) fn says_its_structure(&self) -> bool {
        let Some(structured) = &self.structured else {
            return false;
        };
        self.contents.iter().any(|content| match content {
            Content::Text { text } => {
                serde_json::from_str::<Value>(text).is_ok_and(|said| said == *structured)
            }
            _ => false,
        })
    }

    /// Bytes of all contents and of the structure as JSON text.
    pub(crate) fn bytes(&self) -> u64 {
        let of_content = |content: &Content| match content {
            Content::Text { text } => text.len(),
            Content::Image(media) | Content::Audio(media) => media.data.len(),
            Content::Resource { resource } => match &resource.body {
                ResourceBody::Text(text) => text.len(),
                ResourceBody::Blob(bytes) => bytes.len(),
            },
        };
        let contents: usize = self.contents.iter().map(of_content).sum();
        (contents + self.structured.as_ref().map_or(0, json_bytes)) as u64
    }
}

/// Bytes of a value as JSON text, counted without writing it.
pub(super) fn json_bytes(value: &serde_json::Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// One piece of an answer. Bytes are base64 in JSON, as the Model Context Protocol has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text or Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// A document that travels with the answer.
    Resource {
        /// The document.
        resource: EmbeddedResource,
    },
}

/// Bytes and their media type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The bytes.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub data: Vec<u8>,
    /// For instance `image/png`.
    #[serde(rename = "mimeType")]
    pub media_type: String,
}

/// A document that travels with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddedResource {
    /// Names the document.
    pub uri: String,
    /// For instance `text/markdown`.
    #[serde(rename = "mimeType", default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its text or bytes.
    #[serde(flatten)]
    pub body: ResourceBody,
}

/// Text, or bytes that are not text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    Blob(Vec<u8>),
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_survives_json() {
        let output = ToolOutput {
            contents: vec![
                Content::Text {
                    text: "a\n\u{1F980}".into(),
                },
                Content::Image(Media {
                    data: vec![0, 255, 7],
                    media_type: "image/png".into(),
                }),
                Content::Audio(Media {
                    data: vec![],
                    media_type: "audio/wav".into(),
                }),
                Content::Resource {
                    resource: EmbeddedResource {
                        uri: "test://x".into(),
                        media_type: None,
                        body: ResourceBody::Blob(vec![1, 2]),
                    },
                },
                Content::Resource {
                    resource: EmbeddedResource {
                        uri: "test://y".into(),
                        media_type: Some("text/plain".into()),
                        body: ResourceBody::Text("y".into()),
                    },
                },
            ],
            structured: Some(serde_json::json!({"n": 1})),
        };
        let json = serde_json::to_string(&output).unwrap();
        assert!(
            json.contains(r#"{"type":"image","data":"AP8H","mimeType":"image/png"}"#),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<ToolOutput>(&json).unwrap(), output);
    }
}

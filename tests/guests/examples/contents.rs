//! Well behaved: one tool for each kind of content.

use prx_guests::tools::{Content, EmbeddedResource, Media, Output, ResourceBody};
use prx_guests::{Answer, Tool, guest};

/// One black pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\
    \0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\
    \0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\
    \0\0\0\0IEND\xaeB`\x82";

/// Eight samples of silence: mono, 8,000 a second, 8 bits.
const WAV: &[u8] = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\
    \x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x08\0\0\0\x80\x80\x80\x80\x80\x80\x80\x80";

fn text() -> Content {
    Content::Text("plain *text* \u{1F980}".to_owned())
}

fn image() -> Content {
    Content::Image(Media {
        data: PNG.to_vec(),
        media_type: "image/png".to_owned(),
    })
}

fn audio() -> Content {
    Content::Audio(Media {
        data: WAV.to_vec(),
        media_type: "audio/wav".to_owned(),
    })
}

fn document() -> Content {
    Content::Resource(EmbeddedResource {
        uri: "guest://documents/read-me".to_owned(),
        media_type: Some("text/markdown".to_owned()),
        body: ResourceBody::Text("# Read me\n".to_owned()),
    })
}

fn bytes() -> Content {
    Content::Resource(EmbeddedResource {
        uri: "guest://documents/bytes".to_owned(),
        media_type: None,
        body: ResourceBody::Blob(vec![0, 159, 146, 150, 255]),
    })
}

#[allow(clippy::unnecessary_wraps, reason = "the type of every answer")]
fn only(content: Content) -> Answer {
    Ok(Output {
        contents: vec![content],
        structured: None,
    })
}

guest![
    Tool::new("text", "Answers with text.", |_| only(text())),
    Tool::new("image", "Answers with a PNG picture of one pixel.", |_| {
        only(image())
    }),
    Tool::new("audio", "Answers with a WAV sound.", |_| only(audio())),
    Tool::new("document", "Answers with a document of text.", |_| only(
        document()
    )),
    Tool::new("bytes", "Answers with a document of bytes.", |_| only(
        bytes()
    )),
    Tool::new(
        "mixed",
        "Answers with one of each, and with structure.",
        |_| {
            let contents = vec![text(), image(), audio(), document(), bytes()];
            Ok(Output {
                contents,
                structured: Some(r#"{"pieces":5}"#.to_owned()),
            })
        }
    ),
    Tool::new("structure", "Answers with structure alone.", |_| {
        Ok(Output {
            contents: Vec::new(),
            structured: Some(r#"{"pieces":0}"#.to_owned()),
        })
    })
    .answers(
        r#"{"type":"object","properties":{"pieces":{"type":"integer"}},"required":["pieces"]}"#
    ),
];

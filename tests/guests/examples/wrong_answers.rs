//! Breaks its own promises about structured answers.

use prx_guests::tools::{Content, Media, Output};
use prx_guests::{Tool, guest, text};

const PROMISE: &str =
    r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#;

#[allow(clippy::unnecessary_wraps, reason = "the type of every answer")]
fn only(json: &str) -> prx_guests::Answer {
    Ok(Output {
        contents: Vec::new(),
        structured: Some(json.to_owned()),
    })
}

guest![
    Tool::new("kept", "Promises a sum and gives it.", |_| only(
        r#"{"sum":3}"#
    ))
    .answers(PROMISE),
    Tool::new("broken", "Promises a sum and gives a text.", |_| only(
        r#"{"sum":"three"}"#
    ))
    .answers(PROMISE),
    Tool::new("missing", "Promises structure and gives none.", |_| text(
        "three"
    ))
    .answers(PROMISE),
    Tool::new("not_json", "Gives structure that is no JSON.", |_| only(
        r#"{"sum":"#
    )),
    Tool::new(
        "not_object",
        "Gives structure that is no object.",
        |_| only("[1,2]")
    ),
    Tool::new("deep", "Gives structure 10,000 levels deep.", |_| {
        only(&format!(
            "{}1{}",
            r#"{"a":"#.repeat(10_000),
            "}".repeat(10_000)
        ))
    }),
    Tool::new("nothing", "Gives neither contents nor structure.", |_| {
        Ok(Output {
            contents: Vec::new(),
            structured: None,
        })
    }),
    Tool::new(
        "bad_media_type",
        "Gives a picture of no media type.",
        |_| {
            let picture = Media {
                data: vec![1],
                media_type: "not a\nmedia type".to_owned(),
            };
            Ok(Output {
                contents: vec![Content::Image(picture)],
                structured: None,
            })
        }
    ),
];

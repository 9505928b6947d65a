//! Well behaved, and made with the SDK: what the official conformance suite asks for, as
//! tools of one skill. Its module is laid as `test.wasm`, so that `simple_text` is called
//! `test_simple_text`.

use std::thread::sleep;
use std::time::Duration;

use prx_skill::prelude::*;

/// One red pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\
    \0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDATx\xdac\xf8\xcf\xc0\0\0\x03\x01\x01\0\xf7\x03AC\
    \0\0\0\0IEND\xaeB`\x82";

/// Eight samples of silence: mono, 8,000 a second, 8 bits.
const WAV: &[u8] = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\
    \x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x08\0\0\0\x80\x80\x80\x80\x80\x80\x80\x80";

/// What the suite asks to wait between two messages.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers with text.
#[tool(read_only)]
fn simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with a picture.
#[tool(read_only)]
fn image_content() -> Output {
    Output::new().image(PNG, "image/png")
}

/// Answers with a sound.
#[tool(read_only)]
fn audio_content() -> Output {
    Output::new().audio(WAV, "audio/wav")
}

/// Answers with a document.
#[tool(read_only)]
fn embedded_resource() -> Output {
    let text = "This is an embedded resource content.";
    Output::new()
        .resource(Resource::text("test://embedded-resource", text).media_type("text/plain"))
}

/// Answers with a text, a picture and a document.
#[tool(read_only)]
fn multiple_content_types() -> Output {
    let json = r#"{"test":"data","value":123}"#;
    let document = Resource::text("test://mixed-content-resource", json);
    Output::new()
        .text("Multiple content types test:")
        .image(PNG, "image/png")
        .resource(document.media_type("application/json"))
}

/// Answers with an error.
#[tool(read_only)]
fn error_handling() -> Result<(), ToolError> {
    Err(ToolError::failed(
        "This tool intentionally returns an error for testing",
    ))
}

/// Tells of its progress: nothing, half, all.
#[tool(read_only)]
fn tool_with_progress() -> &'static str {
    progress::count(0, 100, None);
    sleep(PAUSE);
    progress::count(50, 100, None);
    sleep(PAUSE);
    progress::count(100, 100, None);
    "Progress was told three times."
}

/// Writes three messages while it runs.
#[tool(read_only)]
fn tool_with_logging() -> &'static str {
    log::info("Tool execution started");
    sleep(PAUSE);
    log::info("Tool processing data");
    sleep(PAUSE);
    log::info("Tool execution completed");
    "Three messages were written."
}

/// Writes a message that only those hear who ask for messages.
#[tool(read_only)]
fn logging_tool() -> &'static str {
    log::info("a message of test_logging_tool");
    "A message was written."
}

/// Tells of its progress and asks nobody anything, as no skill can.
#[tool(read_only)]
fn streaming_elicitation() -> &'static str {
    progress::count(1, 1, "nothing was asked");
    "A skill does its work with what it was given."
}

/// Gives a value back that clients also send as a header.
#[tool(read_only)]
fn custom_header(
    /// The value.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
) -> String {
    value
}

/// Reads the resource that is a text.
#[tool(read_only)]
fn static_text() -> Output {
    let text = "This is the content of the static text resource.";
    Output::new().resource(Resource::text("test://static-text", text).media_type("text/plain"))
}

/// Reads the resource that is a picture.
#[tool(read_only)]
fn static_binary() -> Output {
    Output::new().resource(Resource::blob("test://static-binary", PNG).media_type("image/png"))
}

/// Reads one of the resources that a template names.
#[tool(read_only)]
fn template_data(
    /// Which one.
    id: String,
) -> Output {
    let json = prx_skill::serde_json::json!({
        "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
    });
    let uri = format!("test://template/{id}/data");
    Output::new().resource(Resource::text(uri, json.to_string()).media_type("application/json"))
}

#[data(input)]
#[serde(rename_all = "camelCase")]
struct Embedded {
    /// The resource to embed.
    resource_uri: String,
}

/// Asks a model to look at a document.
#[tool(read_only)]
fn prompt_with_embedded_resource(#[arguments] embedded: Embedded) -> Output {
    let text = "Embedded resource content for testing.";
    Output::new()
        .resource(Resource::text(embedded.resource_uri, text).media_type("text/plain"))
        .text("Please process the embedded resource above.")
}

/// Asks a model to look at a picture.
#[tool(read_only)]
fn prompt_with_image() -> Output {
    Output::new()
        .image(PNG, "image/png")
        .text("Please analyze the image above.")
}

prx_skill::skill!(
    simple_text,
    image_content,
    audio_content,
    embedded_resource,
    multiple_content_types,
    error_handling,
    tool_with_progress,
    tool_with_logging,
    logging_tool,
    streaming_elicitation,
    custom_header,
    static_text,
    static_binary,
    template_data,
    prompt_with_embedded_resource,
    prompt_with_image,
);

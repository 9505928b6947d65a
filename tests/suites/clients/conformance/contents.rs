//! What the fixtures answer, over the line: the suite is content with much less.

use anyhow::{Context as _, Result, ensure};
use prx_tests::Served;
use serde_json::{Value, json};

use crate::fixture::{self, PIXEL};

/// Eight samples of silence.
const SOUND: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

/// The schema that must come through whole.
const SCHEMA: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

fn served() -> Result<(prx_tests::Stage, Served)> {
    let stage = fixture::stage()?;
    let served = Served::start(&stage, &[])?.ready()?;
    Ok((stage, served))
}

fn call(served: &Served, tool: &str, meta: &Value) -> Result<Vec<Value>> {
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    Ok(served.request("tools/call", params, &[])?.messages())
}

fn ask(served: &Served, method: &str, params: Value) -> Result<Value> {
    let mut message = served.request(method, params, &[])?.message()?;
    ensure!(message["result"].is_object(), "{method}: {message}");
    Ok(message["result"].take())
}

/// What was told with a method, in order.
fn told<'a>(messages: &'a [Value], method: &str, key: &str) -> Vec<&'a Value> {
    let told = messages.iter().filter(|told| told["method"] == method);
    told.map(|told| &told["params"][key]).collect()
}

#[test]
fn conformance_fixtures_answer_with_what_the_suite_asks_for() -> Result<()> {
    let (_stage, served) = served()?;
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = || json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let document = |uri: &str, kind: &str, text: &str| {
        let resource = json!({ "uri": uri, "mimeType": kind, "text": text });
        json!({ "type": "resource", "resource": resource })
    };
    for (tool, contents) in [
        (
            "test_simple_text",
            json!([text("This is a simple text response for testing.")]),
        ),
        ("test_image_content", json!([image()])),
        (
            "test_audio_content",
            json!([{ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }]),
        ),
        (
            "test_embedded_resource",
            json!([document(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]),
        ),
        (
            "test_multiple_content_types",
            json!([
                text("Multiple content types test:"),
                image(),
                document(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                ),
            ]),
        ),
        (
            "test_error_handling",
            json!([text("This tool intentionally returns an error for testing")]),
        ),
    ] {
        let messages = call(&served, tool, &json!({}))?;
        let result = &messages.last().context("an answer")?["result"];
        assert_eq!(result["content"], contents, "{tool}");
        let failed = tool == "test_error_handling";
        assert_eq!(
            result["isError"].as_bool().unwrap_or(false),
            failed,
            "{tool}"
        );
        assert_eq!(result.get("structuredContent"), None, "{tool}");
    }
    Ok(())
}

#[test]
fn conformance_fixtures_tell_what_they_do_to_who_asked() -> Result<()> {
    let (_stage, served) = served()?;
    let asked = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/logLevel": "info",
    });
    let heard = call(&served, "test_tool_with_progress", &asked)?;
    let progress = "notifications/progress";
    assert_eq!(told(&heard, progress, "progress"), [0.0, 50.0, 100.0]);
    assert_eq!(told(&heard, progress, "total"), [100.0, 100.0, 100.0]);
    assert_eq!(told(&heard, progress, "progressToken"), ["p", "p", "p"]);

    let heard = call(&served, "test_tool_with_logging", &asked)?;
    let message = "notifications/message";
    assert_eq!(
        told(&heard, message, "data"),
        [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed"
        ]
    );
    assert_eq!(told(&heard, message, "level"), ["info", "info", "info"]);
    for tool in ["test_tool_with_progress", "test_tool_with_logging"] {
        assert_eq!(call(&served, tool, &json!({}))?.len(), 1, "only the answer");
    }
    Ok(())
}

#[test]
fn conformance_fixtures_are_resources_by_configuration() -> Result<()> {
    let (_stage, served) = served()?;
    let text = "This is the content of the static text resource.";
    let data = r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#;
    for (uri, kind, key, body) in [
        ("test://static-text", "text/plain", "text", text),
        ("test://static-binary", "image/png", "blob", PIXEL),
        ("test://template/123/data", "application/json", "text", data),
        (
            "test://handbook/first.md",
            "text/markdown",
            "text",
            "# First\n",
        ),
    ] {
        let read = ask(&served, "resources/read", json!({ "uri": uri }))?;
        let contents = json!([{ "uri": uri, "mimeType": kind, key: body }]);
        assert_eq!(read["contents"], contents, "{uri}");
    }
    Ok(())
}

#[test]
fn conformance_fixtures_are_prompts_by_configuration() -> Result<()> {
    let (_stage, served) = served()?;
    let said = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: &str| said(json!({ "type": "text", "text": text }));
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let resource = json!({
        "uri": "test://example-resource",
        "mimeType": "text/plain",
        "text": "Embedded resource content for testing.",
    });
    for (prompt, arguments, messages) in [
        (
            "test_simple_prompt",
            json!({}),
            json!([text("This is a simple prompt for testing.")]),
        ),
        (
            "test_prompt_with_arguments",
            json!({ "arg1": "hello", "arg2": "{arg1}" }),
            json!([text("Prompt with arguments: arg1='hello', arg2='{arg1}'")]),
        ),
        (
            "test_prompt_with_embedded_resource",
            json!({ "resourceUri": "test://example-resource" }),
            json!([
                said(json!({ "type": "resource", "resource": resource })),
                text("Please process the embedded resource above."),
            ]),
        ),
        (
            "test_prompt_with_image",
            json!({}),
            json!([said(image), text("Please analyze the image above.")]),
        ),
    ] {
        let params = json!({ "name": prompt, "arguments": arguments });
        let got = ask(&served, "prompts/get", params)?;
        assert_eq!(got["messages"], messages, "{prompt}");
    }
    Ok(())
}

#[test]
fn conformance_fixtures_have_their_schemas_as_they_were_written() -> Result<()> {
    let (_stage, served) = served()?;
    let listed = served.request("tools/list", json!({}), &[])?.message()?;
    let tools = listed["result"]["tools"].as_array().context("a list")?;
    let schema = |name: &str| {
        let mut tools = tools.iter();
        let tool = tools.find(|tool| tool["name"] == name);
        tool.map(|tool| &tool["inputSchema"])
            .context("it is listed")
    };
    // The order of the keys counts, too.
    assert_eq!(schema("json_schema_2020_12_tool")?.to_string(), SCHEMA);
    let value = &schema("test_custom_header")?["properties"]["value"];
    assert_eq!(value["type"], "string");
    assert_eq!(value["x-mcp-header"], "Value");
    Ok(())
}

//! `describe` may lie: each lie is found and named, costs bounded time, and hurts nobody
//! else.

use anyhow::{Result, ensure};
use prx_host::model::{CallOptions, Capability, OutcomeKind};
use prx_tests::Stage;
use prx_tests::calls::{assert_healthy, broken, call, text};
use serde_json::json;

const LIES: [(&str, &str); 19] = [
    ("lies_bad_json", "input-schema is no JSON"),
    ("lies_deep_schema", "input-schema"),
    ("lies_duplicate_names", "two tools are called `twin`"),
    ("lies_exponential_schema", "repeats itself through `$ref`"),
    ("lies_file_ref", "file:///etc/passwd"),
    (
        "lies_invalid_output_schema",
        "output-schema is no valid JSON Schema",
    ),
    ("lies_invalid_schema", "input-schema"),
    ("lies_long_description", "description has"),
    ("lies_many_tools", "10000 tools, at most 256"),
    (
        "lies_name_digit",
        "`1st`: its name must begin with a letter",
    ),
    ("lies_name_dots", "`a.b.c`: its name"),
    ("lies_name_empty", "``: its name"),
    ("lies_name_long", "nnn…`: its name"),
    ("lies_name_newline", "`one\\ntwo`: its name"),
    ("lies_name_not_ascii", "its name"),
    ("lies_name_spaces", "`two words`: its name"),
    ("lies_no_tools", "offers no tools"),
    ("lies_remote_ref", "http://127.0.0.1:9/schema.json"),
    ("lies_schema_not_object", "\"type\": \"object\""),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_lie_is_named_and_truthful_modules_beside_it_serve() -> Result<()> {
    let names = LIES.map(|(name, _)| name);
    let stage = Stage::new()?.guests(&names)?;
    let host = stage.open().await?;
    for (module, fault) in LIES {
        let reason = broken(&host, module)?;
        ensure!(reason.contains(fault), "{module}: {reason}");
        ensure!(reason.len() < 4000, "{module}: {} bytes", reason.len());
        let outcome = call(&host, module, json!({})).await;
        ensure!(outcome.kind() == OutcomeKind::Unavailable, "{outcome:?}");
    }
    assert_eq!(host.snapshot().broken().len(), LIES.len());
    assert_eq!(host.snapshot().tools().len(), 2);
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pattern_that_never_ends_ends_or_is_refused() -> Result<()> {
    let module = "lies_catastrophic_pattern";
    let stage = Stage::new()?.guests(&[module])?;
    let host = stage.open().await?;
    let snapshot = host.snapshot();
    let tools: Vec<&str> = snapshot.tools().map(|tool| tool.name()).collect();
    let serving: Vec<&&str> = tools
        .iter()
        .filter(|name| name.starts_with(module))
        .collect();
    if serving.is_empty() {
        let reason = broken(&host, module)?;
        ensure!(reason.contains("input-schema"), "{reason}");
    }
    for tool in serving {
        let hostile = json!({ "value": format!("{}!", "a".repeat(5000)) });
        let outcome = call(&host, tool, hostile).await;
        ensure!(
            outcome.kind() == OutcomeKind::InvalidArguments,
            "{outcome:?}"
        );
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_and_requests_are_passed_on_and_grant_nothing() -> Result<()> {
    let stage = Stage::new()?.guests(&["hints"])?;
    let host = stage.open().await?;
    let snapshot = host.snapshot();
    let spec = |name: &str| snapshot.tool(name).expect("it is described").spec();
    let harmless = spec("hints_harmless");
    assert_eq!(harmless.title.as_deref(), Some("Harmless tool"));
    assert_eq!(harmless.hints.read_only, Some(true));
    assert_eq!(harmless.hints.open_world, Some(false));
    assert_eq!(
        spec("hints_silent").hints,
        prx_host::model::Hints::default()
    );
    let asking = spec("hints_asking");
    assert_eq!(asking.requests.len(), 6);
    assert_eq!(
        asking.requests[0].capability,
        Capability::ReadFolder("/docs".into())
    );
    let tool = snapshot.tool("hints_asking").expect("it is described");
    let grants = tool.entry().grants();
    assert!(grants.folders.is_empty() && grants.variables.is_empty());
    assert!(grants.network.is_empty() && grants.state_bytes == 0);
    assert_eq!(grants.unmet(&asking.requests).len(), 3);
    assert_eq!(text(&host, "hints_asking", json!({})).await?, "asked");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operators_description_replaces_that_of_a_single_tool() -> Result<()> {
    let stage = Stage::new()?
        .entries("[tools.custom.mirror]\nmodule = \"echo.wasm\"\ndescription = \"In my words.\"");
    let host = stage.open().await?;
    let snapshot = host.snapshot();
    let mirror = snapshot.tool("mirror").expect("it serves");
    assert_eq!(mirror.spec().description, "In my words.");
    let report = host.call("mirror", "{}", CallOptions::default()).await;
    assert!(report.outcome.ok().is_some());
    Ok(())
}

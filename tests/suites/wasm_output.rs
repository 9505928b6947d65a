//! Output: floods cost time and no memory, answers are bounded on every path, standard
//! output is never the answer, and breakdowns and refusals are passed on in their words.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::{Result, bail, ensure};
use prx_host::model::{
    CallOptions, Captured, Content, Event, LimitKind, Outcome, OutcomeKind, ResourceBody,
    ToolOutput,
};
use prx_tests::Stage;
use prx_tests::calls::{answer, assert_healthy, call, report, structured, text};
use serde_json::{Value, json};

const MEGABYTE: u64 = 1 << 20;

/// Proves that an answer was refused for its length, without printing it if it was not.
#[allow(
    clippy::needless_pass_by_value,
    reason = "called with an outcome just made"
)]
fn assert_too_long(outcome: Outcome) -> Result<()> {
    let refused = matches!(
        outcome,
        Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit: 65_536
        }
    );
    ensure!(refused, "it was passed on: {:?}", outcome.kind());
    Ok(())
}

fn stage(guests: &[&str]) -> Result<Stage> {
    Ok(Stage::new()?
        .guests(guests)?
        .runtime("max_output_bytes = 65536"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_drained_counted_and_kept_up_to_the_limit() -> Result<()> {
    let stage = stage(&["output"])?;
    let host = stage.open().await?;
    let flooded = |captured: &Captured| {
        captured.bytes.len() == 65_536
            && captured.bytes.iter().all(|byte| *byte == b'x')
            && captured.dropped == 4 * MEGABYTE - 65_536
    };
    for (tool, stdout, stderr) in [
        ("output_flood_stdout", true, false),
        ("output_flood_stderr", false, true),
        ("output_flood_both", true, true),
    ] {
        let report = report(&host, tool, json!({ "megabytes": 4 })).await;
        let said = report.outcome.ok().map(ToolOutput::text);
        assert_eq!(said.as_deref(), Some("wrote 4 MB to each"), "{tool}");
        for (captured, expected) in [(&report.stdout, stdout), (&report.stderr, stderr)] {
            let right = if expected {
                flooded(captured)
            } else {
                *captured == Captured::default()
            };
            ensure!(
                right,
                "{tool}: {} and {}",
                captured.bytes.len(),
                captured.dropped
            );
        }
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listeners_hear_no_more_than_what_is_kept() -> Result<()> {
    let stage = stage(&["output"])?;
    let host = stage.open().await?;
    let (heard, reports) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let options = || {
        let (heard, reports) = (Arc::clone(&heard), Arc::clone(&reports));
        CallOptions {
            events: Some(Arc::new(move |event: Event<'_>| match event {
                Event::Stdout(bytes) | Event::Stderr(bytes) => {
                    heard.fetch_add(bytes.len(), Relaxed);
                }
                Event::Log {
                    message, fields, ..
                } => {
                    let fields = fields.iter().map(|(key, value)| key.len() + value.len());
                    heard.fetch_add(message.len() + fields.sum::<usize>(), Relaxed);
                    reports.fetch_add(1, Relaxed);
                }
                Event::Progress(_) => {
                    reports.fetch_add(1, Relaxed);
                }
                _ => {}
            })),
            ..CallOptions::default()
        }
    };
    let flood = r#"{"megabytes":4}"#;
    let report = host.call("output_flood_both", flood, options()).await;
    assert!(report.outcome.ok().is_some());
    assert_eq!(heard.swap(0, Relaxed), 2 * 65_536);

    let many = r#"{"messages":100000,"bytes":10}"#;
    let report = host.call("output_flood_log", many, options()).await;
    assert!(report.outcome.ok().is_some(), "{:?}", report.outcome);
    let messages = reports.swap(0, Relaxed);
    assert!((1..=10_000).contains(&messages), "{messages}");
    heard.store(0, Relaxed);

    let long = r#"{"messages":100,"bytes":100000}"#;
    let report = host.call("output_flood_log", long, options()).await;
    assert!(report.outcome.ok().is_some(), "{:?}", report.outcome);
    let bytes = heard.swap(0, Relaxed);
    assert!((1..=1 << 20).contains(&bytes), "{bytes}");
    reports.store(0, Relaxed);

    let often = r#"{"reports":100000}"#;
    let report = host.call("output_flood_progress", often, options()).await;
    assert!(report.outcome.ok().is_some(), "{:?}", report.outcome);
    let passed = reports.load(Relaxed);
    assert!((1..10_000).contains(&passed), "{passed}");
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_any_form_is_bounded() -> Result<()> {
    let stage = stage(&["output", "echo", "errors"])?;
    let host = stage.open().await?;
    let fitting = text(&host, "output_long_text", json!({ "bytes": 65_536 })).await?;
    assert_eq!(fitting.len(), 65_536);
    for bytes in [65_537, 10 * MEGABYTE, 60 * MEGABYTE] {
        let outcome = call(&host, "output_long_text", json!({ "bytes": bytes })).await;
        assert_too_long(outcome)?;
    }
    // Text and structure are two copies of the same.
    let long = json!({ "text": "a".repeat(40_000) });
    assert_too_long(call(&host, "echo", long).await)?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_bounded_as_an_answer_is() -> Result<()> {
    let stage = stage(&["errors"])?;
    let host = stage.open().await?;
    let tool = "errors_fail_at_length";
    let outcome = call(&host, tool, json!({ "bytes": 65_536 })).await;
    assert_eq!(outcome.kind(), OutcomeKind::ToolError);
    for bytes in [65_537, 10 * MEGABYTE] {
        assert_too_long(call(&host, tool, json!({ "bytes": bytes })).await)?;
    }
    let data = json!("d".repeat(70_000)).to_string();
    let arguments = json!({ "kind": "failed", "message": "m", "data": data });
    assert_too_long(call(&host, "errors_fail", arguments).await)?;
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_character_that_the_limit_cuts_is_left_out() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["output"])?
        .runtime("max_output_bytes = 1001");
    let host = stage.open().await?;
    for (shift, whole) in [
        (0, "\u{e9}".repeat(500)),
        (1, format!("-{}", "\u{e9}".repeat(500))),
    ] {
        let arguments = json!({ "bytes": 2001, "shift": shift });
        let report = report(&host, "output_print", arguments).await;
        for captured in [&report.stdout, &report.stderr] {
            assert_eq!(captured.bytes.len(), 1001);
            assert_eq!(captured.dropped, 1000);
            assert_eq!(captured.text(), whole, "{shift}");
        }
        assert_eq!(report.outcome.kind(), OutcomeKind::LimitReached);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_guest_prints_is_never_its_answer() -> Result<()> {
    let stage = stage(&["output"])?;
    let host = stage.open().await?;
    let report = report(&host, "output_forge", json!({})).await;
    let output = report.outcome.ok().expect("it answers");
    assert_eq!(output.text(), "not forged");
    assert_eq!(output.structured, None);
    assert_eq!(output.contents.len(), 1);
    let printed = report.stdout.text();
    assert!(printed.contains("jsonrpc") && printed.contains("Content-Length"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_content_arrives_whole() -> Result<()> {
    let stage = stage(&["contents"])?;
    let host = stage.open().await?;
    let mixed = answer(&host, "contents_mixed", json!({})).await?;
    assert_eq!(mixed.structured, Some(json!({ "pieces": 5 })));
    let [
        Content::Text { text },
        Content::Image(image),
        Content::Audio(audio),
        Content::Resource { resource: document },
        Content::Resource { resource: bytes },
    ] = mixed.contents.as_slice()
    else {
        bail!("{:?}", mixed.contents);
    };
    assert_eq!(text, "plain *text* \u{1F980}");
    assert_eq!(image.media_type, "image/png");
    assert!(
        image.data.starts_with(b"\x89PNG\r\n\x1a\n") && image.data.ends_with(b"IEND\xaeB`\x82")
    );
    assert_eq!(audio.media_type, "audio/wav");
    assert_eq!(audio.data.len(), 52);
    assert_eq!(document.body, ResourceBody::Text("# Read me\n".to_owned()));
    assert_eq!(document.media_type.as_deref(), Some("text/markdown"));
    assert_eq!(bytes.body, ResourceBody::Blob(vec![0, 159, 146, 150, 255]));
    assert_eq!(bytes.media_type, None);
    let alone: Value = structured(&host, "contents_structure", json!({})).await?;
    assert_eq!(alone, json!({ "pieces": 0 }));
    Ok(())
}

//! Traps, errors and broken promises: each arrives as what it is, in the guest's words.

use anyhow::{Result, bail, ensure};
use prx_host::model::{Outcome, ToolErrorKind, ToolOutput, TrapKind};
use prx_tests::calls::{answer, assert_healthy, call, structured};
use prx_tests::{Stage, fixtures};
use serde_json::json;

fn stage(guests: &[&str]) -> Result<Stage> {
    Stage::new()?.guests(guests)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_breakdown_is_typed_and_carries_the_guests_last_words() -> Result<()> {
    let stage = stage(&["crashes"])?
        .module("wild_answer", &fixtures::wild_answer()?)?
        .module("wild_realloc", &fixtures::wild_realloc()?)?;
    let host = stage.open().await?;
    let message = "the \u{e9}nd of the\u{1F980} line";
    for (tool, arguments, kind, words) in [
        (
            "crashes_panic",
            json!({ "message": message }),
            TrapKind::Unreachable,
            message,
        ),
        (
            "crashes_unreachable",
            json!({}),
            TrapKind::Unreachable,
            "gave up",
        ),
        (
            "crashes_exit",
            json!({ "code": 0 }),
            TrapKind::Exit,
            "leaving with 0",
        ),
        (
            "crashes_exit",
            json!({ "code": 7 }),
            TrapKind::Exit,
            "leaving with 7",
        ),
        ("crashes_fault", json!({}), TrapKind::Fault, "out of bounds"),
        ("crashes_not_utf8", json!({}), TrapKind::Fault, "utf-8"),
        ("wild_answer", json!({}), TrapKind::Fault, ""),
        ("wild_realloc", json!({}), TrapKind::Fault, ""),
    ] {
        match call(&host, tool, arguments).await {
            Outcome::Trapped(trap) => {
                ensure!(trap.kind == kind, "{tool}: {trap:?}");
                ensure!(
                    trap.message.to_lowercase().contains(&words.to_lowercase()),
                    "{tool}: {trap:?}"
                );
                ensure!(!trap.message.contains('\n'), "{tool}: {trap:?}");
                ensure!(trap.backtrace.len() <= 16, "{tool}: {trap:?}");
            }
            other => bail!("{tool}: {other:?}"),
        }
        assert_healthy(&host).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_error_arrives_as_itself() -> Result<()> {
    let stage = stage(&["errors"])?;
    let host = stage.open().await?;
    for (kind, expected) in [
        ("invalid_arguments", ToolErrorKind::InvalidArguments),
        ("not_found", ToolErrorKind::NotFound),
        ("conflict", ToolErrorKind::Conflict),
        ("unavailable", ToolErrorKind::Unavailable),
        ("failed", ToolErrorKind::Failed),
    ] {
        let arguments = json!({ "kind": kind, "message": "no\n\u{1F980}", "data": "{\"a\":[1]}" });
        match call(&host, "errors_fail", arguments).await {
            Outcome::ToolError(error) => {
                assert_eq!(error.kind, expected);
                assert_eq!(error.message, "no\n\u{1F980}");
                assert_eq!(error.data, Some(json!({ "a": [1] })));
                assert_eq!(error.hint, None);
            }
            other => bail!("{kind}: {other:?}"),
        }
    }
    match call(
        &host,
        "errors_fail",
        json!({ "kind": "denied", "message": "may not" }),
    )
    .await
    {
        Outcome::Denied(denial) => {
            assert_eq!(denial.message, "may not");
            assert_eq!(denial.capability, None);
        }
        other => bail!("{other:?}"),
    }
    let not_json = json!({ "kind": "failed", "message": "m", "data": "{" });
    match call(&host, "errors_fail", not_json).await {
        Outcome::ToolError(error) => {
            assert_eq!((error.message.as_str(), error.data), ("m", None));
            ensure!(error.hint.is_some_and(|hint| hint.contains("no JSON")));
        }
        other => bail!("{other:?}"),
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_breaks_its_promise_is_an_error_of_the_tool() -> Result<()> {
    let stage = stage(&["wrong_answers"])?;
    let host = stage.open().await?;
    let kept = structured(&host, "wrong_answers_kept", json!({})).await?;
    assert_eq!(kept, json!({ "sum": 3 }));
    for (tool, what) in [
        ("broken", "/sum"),
        ("missing", "gave none"),
        ("not_json", "no JSON"),
        ("not_object", "no JSON object"),
        ("deep", "no JSON"),
        ("bad_media_type", "media type"),
    ] {
        match call(&host, &format!("wrong_answers_{tool}"), json!({})).await {
            Outcome::ToolError(error) => {
                assert_eq!(error.kind, ToolErrorKind::Failed);
                ensure!(error.message.contains("broke its contract"), "{error:?}");
                ensure!(error.message.contains(what), "{tool}: {error:?}");
            }
            other => bail!("{tool}: {other:?}"),
        }
        assert_healthy(&host).await?;
    }
    // A tool that has nothing to say has succeeded all the same.
    let nothing = answer(&host, "wrong_answers_nothing", json!({})).await?;
    assert_eq!(nothing, ToolOutput::default());
    Ok(())
}

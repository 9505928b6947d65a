//! Arguments: what does not fit is refused with its place before anything runs; what
//! fits arrives as it was sent.

use anyhow::{Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{ArgumentFault, CallOptions, LimitKind, Outcome};
use prx_tests::Stage;
use prx_tests::calls::assert_healthy;
use prx_tests::plugin;
use serde_json::{Value, json};

async fn call_text(host: &Host, tool: &str, arguments: &str) -> Outcome {
    host.call(tool, arguments, CallOptions::default())
        .await
        .outcome
}

async fn faults(host: &Host, tool: &str, arguments: &str) -> Result<Vec<ArgumentFault>> {
    match call_text(host, tool, arguments).await {
        Outcome::InvalidArguments(faults) if !faults.is_empty() => Ok(faults),
        other => bail!(
            "{tool} {}: {other:?}",
            &arguments[..arguments.len().min(60)]
        ),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn absent_arguments_are_an_empty_object() -> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    for text in ["", " \n", "null", "{}", " { } "] {
        let outcome = call_text(&host, "echo", text).await;
        let echoed = outcome.ok().and_then(|output| output.structured.clone());
        assert_eq!(echoed, Some(json!({})), "{text:?}: {outcome:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_object_of_json_never_reaches_the_guest() -> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for (text, said) in [
        ("[]", "must be a JSON object, not an array"),
        ("[{}]", "must be a JSON object, not an array"),
        ("\"5\"", "must be a JSON object, not a string"),
        ("5", "must be a JSON object, not a number"),
        ("true", "must be a JSON object, not a boolean"),
        ("{", "not valid JSON"),
        ("{} {}", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("{\"a\": NaN}", "not valid JSON"),
        ("{\"a\": 1e400}", "not valid JSON"),
        ("{\"a\": -1e400}", "not valid JSON"),
        ("{\"a\": \"\\ud800\"}", "not valid JSON"),
        ("{\"a\": \"\\udc00\\ud800\"}", "not valid JSON"),
        ("{\"a\": \"\n\"}", "not valid JSON"),
        ("{\"a\": 1, \"a\": 2}", "`a` stands twice"),
        ("{\"a\": 1, \"\\u0061\": 2}", "`a` stands twice"),
        ("{\"o\": [{\"b\": 1, \"b\": 1}]}", "`b` stands twice"),
        (deep.as_str(), "not valid JSON"),
    ] {
        let faults = faults(&host, "echo", text).await?;
        ensure!(faults[0].message.contains(said), "{said}: {faults:?}");
        ensure!(faults[0].message.len() < 1000, "{said}: too long");
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_the_schema_is_told_by_its_place() -> Result<()> {
    let stage = Stage::new()?.guests(&["time"])?;
    let host = stage.open().await?;
    for (tool, text, place, said) in [
        ("time_work", "{}", "", "rounds"),
        ("time_work", "{\"rounds\": \"5\"}", "/rounds", "\"5\""),
        ("time_work", "{\"rounds\": 5.5}", "/rounds", "integer"),
        ("time_work", "{\"rounds\": null}", "/rounds", "integer"),
        ("time_work", "{\"rounds\": [5]}", "/rounds", "integer"),
        (
            "trivial",
            "{\"text\": \"a\", \"numbers\": [1, \"2\"]}",
            "/numbers/1",
            "integer",
        ),
        ("trivial", "{\"numbers\": []}", "", "text"),
    ] {
        let faults = faults(&host, tool, text).await?;
        let found = faults
            .iter()
            .any(|fault| fault.path == place && fault.message.contains(said));
        ensure!(found, "{text}: {faults:?}");
    }
    // A fault quotes what it is about, but not all of it.
    let long = json!({ "rounds": "5".repeat(1_000_000) }).to_string();
    let faults = faults(&host, "time_work", &long).await?;
    ensure!(faults[0].message.len() < 2000);
    let many = json!({ "text": "a", "numbers": vec!["x"; 100_000] }).to_string();
    ensure!(self::faults(&host, "trivial", &many).await?.len() <= 8);
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_arrives_as_it_was_sent() -> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    for text in [
        r#"{"unknown":"property","a":{"b":[1,2,{"c":null}]}}"#,
        r#"{"n":[9223372036854775807,-9223372036854775808,9223372036854775808,18446744073709551615]}"#,
        r#"{"f":[0.1,1e300,-0.0,1E2]}"#,
        "{\"s\":\"\\u0000 \\ud83e\\udd80 \u{1F980} \\/ \\\\ \\\" \u{7f} \u{2028}\"}",
        r#"{"":"","__proto__":{"a":1},"a/b~c":1}"#,
    ] {
        let outcome = call_text(&host, "echo", text).await;
        let Some(output) = outcome.ok() else {
            bail!("{text}: {outcome:?}");
        };
        assert_eq!(output.text(), text);
        assert_eq!(
            output.structured,
            Some(serde_json::from_str::<Value>(text)?)
        );
    }
    let sum = call_text(
        &host,
        "trivial",
        r#"{"text":"h\u00e9","more":1,"numbers":[1]}"#,
    )
    .await;
    let sum = sum.ok().and_then(|output| output.structured.clone());
    assert_eq!(sum, Some(json!({ "characters": 2, "sum": 1 })));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_megabytes_are_too_many_and_a_few_are_not() -> Result<()> {
    let stage = Stage::new()?;
    let host = stage.open().await?;
    let text = |megabytes: usize| json!({ "text": "a".repeat(megabytes << 20) }).to_string();
    let outcome = call_text(&host, "trivial", &text(20)).await;
    let refused = matches!(
        outcome,
        Outcome::LimitReached {
            kind: LimitKind::ArgumentBytes,
            limit: 16_777_216
        }
    );
    ensure!(refused, "{:?}", outcome.kind());
    let outcome = call_text(&host, "trivial", &text(8)).await;
    let sum = outcome.ok().and_then(|output| output.structured.clone());
    ensure!(
        sum == Some(json!({ "characters": 8 << 20, "sum": 0 })),
        "{:?}",
        outcome.kind()
    );
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_number_with_a_fraction_of_zero_is_an_integer_to_a_skill() -> Result<()> {
    let stage = Stage::new()?
        .module("counter", &std::fs::read(plugin("counter")?)?)?
        .entries("[tools.custom.counter.capabilities]\nmax_state_kb = 64");
    let host = stage.open().await?;
    for (by, value) in [("100.0", 100), ("1e2", 200), ("-50.00", 150), ("5", 155)] {
        let arguments = format!(r#"{{"name": "1.0", "by": {by}}}"#);
        let outcome = call_text(&host, "counter_increment", &arguments).await;
        let counted = outcome.ok().and_then(|output| output.structured.clone());
        ensure!(
            counted == Some(json!({ "name": "1.0", "value": value })),
            "{by}: {outcome:?}"
        );
    }
    let refused = faults(&host, "counter_increment", r#"{"name": "a", "by": 100.5}"#).await?;
    ensure!(refused[0].message.contains("100.5"), "{refused:?}");
    // The schema has nothing against it; the skill would have to round.
    let outcome = call_text(
        &host,
        "counter_increment",
        r#"{"name": "a", "by": 9007199254740993.0}"#,
    )
    .await;
    match outcome {
        Outcome::ToolError(error) => ensure!(
            error.message.contains("argument `by`") && error.message.contains("rounded"),
            "{error:?}"
        ),
        other => bail!("{other:?}"),
    }
    Ok(())
}

//! State that outlives calls, traps and hosts, as `wit/` promises it.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, Capability, Outcome, OutcomeKind, ToolError};
use prx_tests::calls::{assert_healthy, call, structured};
use prx_tests::{Stage, process};
use serde_json::{Value, json};

fn stage(quota_kb: u32) -> Result<Stage> {
    let line = format!("max_state_kb = {quota_kb}");
    Ok(Stage::new()?.guests(&["state"])?.capabilities(&line))
}

async fn state(host: &Host, function: &str, arguments: Value) -> Result<Value> {
    structured(host, &format!("state_{function}"), arguments).await
}

/// Calls a function of state that must fail.
async fn refused(host: &Host, function: &str, arguments: Value) -> Result<ToolError> {
    match call(host, &format!("state_{function}"), arguments).await {
        Outcome::ToolError(error) => Ok(error),
        other => bail!("{function}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_does_what_its_interface_says() -> Result<()> {
    let stage = stage(16)?;
    let host = stage.open().await?;
    let get = async |key: &str| state(&host, "get", json!({ "key": key })).await;
    assert_eq!(get("a").await?, json!({ "value": null }));
    state(&host, "set", json!({ "key": "a", "value": "h\u{e9}" })).await?;
    assert_eq!(get("a").await?, json!({ "value": "h\u{e9}" }));
    let usage = state(&host, "usage", json!({})).await?;
    assert_eq!(usage, json!({ "used": 4, "quota": 16_384 }));
    let sum = state(&host, "increment", json!({ "key": "n", "delta": -5 })).await?;
    assert_eq!(sum, json!({ "sum": -5 }));
    let sum = state(&host, "increment", json!({ "key": "n", "times": 8 })).await?;
    assert_eq!(sum, json!({ "sum": 3 }));
    assert_eq!(get("n").await?, json!({ "value": "3" }));
    for (expected, value, done) in [
        (json!("h\u{e9}"), json!("b"), true),
        (json!("h\u{e9}"), json!("c"), false),
        (json!(null), json!("c"), false),
        (json!("b"), json!(null), true),
        (json!(null), json!("d"), true),
    ] {
        let mut arguments = json!({ "key": "a" });
        for (name, text) in [("expected", expected), ("value", value)] {
            if !text.is_null() {
                arguments[name] = text;
            }
        }
        let answer = state(&host, "compare_and_set", arguments).await?;
        assert_eq!(answer, json!({ "done": done }));
    }
    assert_eq!(get("a").await?, json!({ "value": "d" }));
    let keys = state(&host, "keys", json!({})).await?;
    assert_eq!(keys, json!({ "keys": ["a", "n"] }));
    let keys = state(&host, "keys", json!({ "after": "a", "limit": 1 })).await?;
    assert_eq!(keys, json!({ "keys": ["n"] }));
    let gone = state(&host, "delete", json!({ "key": "a" })).await?;
    assert_eq!(gone, json!({ "existed": true }));
    let gone = state(&host, "delete", json!({ "key": "a" })).await?;
    assert_eq!(gone, json!({ "existed": false }));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_refuses_in_its_own_words_and_stays_as_it_was() -> Result<()> {
    let stage = stage(1)?;
    let host = stage.open().await?;
    for key in [String::new(), "k".repeat(513)] {
        let error = refused(&host, "set", json!({ "key": key, "value": "v" })).await?;
        assert_eq!(error.data.context("no data")?["error"], "invalid-key");
    }
    state(&host, "set", json!({ "key": "k".repeat(512), "value": "" })).await?;
    state(&host, "set", json!({ "key": "word", "value": "three" })).await?;
    let error = refused(&host, "increment", json!({ "key": "word" })).await?;
    assert_eq!(error.data.context("no data")?["error"], "not-a-number");
    state(
        &host,
        "set",
        json!({ "key": "top", "value": i64::MAX.to_string() }),
    )
    .await?;
    let error = refused(&host, "increment", json!({ "key": "top" })).await?;
    assert_eq!(error.data.context("no data")?["error"], "not-a-number");

    let used = state(&host, "usage", json!({})).await?["used"].as_u64();
    let used = used.context("no usage")?;
    let room = 1024 - used - 1;
    let value = "v".repeat(usize::try_from(room)? + 7);
    let error = refused(&host, "set", json!({ "key": "x", "value": value })).await?;
    let data = error.data.context("no data")?;
    assert_eq!(
        data,
        json!({ "error": "quota-exceeded", "missing_bytes": 7 })
    );
    let fitting = "v".repeat(usize::try_from(room)?);
    state(&host, "set", json!({ "key": "x", "value": fitting })).await?;
    let usage = state(&host, "usage", json!({})).await?;
    assert_eq!(usage, json!({ "used": 1024, "quota": 1024 }));
    let error = refused(&host, "fill", json!({ "count": 1000, "bytes": 1000 })).await?;
    assert_eq!(error.data.context("no data")?["error"], "quota-exceeded");
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_quota_every_function_of_state_is_denied() -> Result<()> {
    let stage = Stage::new()?.guests(&["state"])?;
    let host = stage.open().await?;
    for (function, arguments) in [
        ("get", json!({ "key": "a" })),
        ("set", json!({ "key": "a", "value": "v" })),
        ("delete", json!({ "key": "a" })),
        ("increment", json!({ "key": "a" })),
        ("compare_and_set", json!({ "key": "a" })),
        ("keys", json!({})),
        ("usage", json!({})),
    ] {
        match call(&host, &format!("state_{function}"), arguments).await {
            Outcome::Denied(denial) => {
                assert_eq!(denial.capability, Some(Capability::State));
                let help = denial.help.unwrap_or_default();
                ensure!(help.contains("max_state_kb"), "{help}");
                ensure!(help.contains("tools.custom.state.capabilities"), "{help}");
            }
            other => bail!("{function}: {other:?}"),
        }
    }
    assert!(!stage.path("state").exists(), "nothing was kept");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_entry_has_a_store_of_its_own_that_outlives_the_host() -> Result<()> {
    let stage = stage(16)?.entries(
        "[tools.custom.one]\nmodule = \"state.wasm\"\n[tools.custom.two]\nmodule = \"state.wasm\"\n\
         [tools.custom.state]\nmodule = \"state.wasm\"",
    );
    let names = ["one", "two", "state"];
    {
        let host = stage.open().await?;
        for name in names {
            let value = format!("of {name}");
            let arguments = json!({ "key": "whose", "value": value });
            structured(&host, &format!("{name}_set"), arguments).await?;
        }
    }
    let host = stage.open().await?;
    let second = stage.open().await?;
    for name in names {
        for host in [&host, &second] {
            let tool = format!("{name}_get");
            let value = structured(host, &tool, json!({ "key": "whose" })).await?;
            assert_eq!(value, json!({ "value": format!("of {name}") }));
        }
    }
    // What one host has acknowledged, another sees.
    structured(&host, "one_set", json!({ "key": "new", "value": "1" })).await?;
    let seen = structured(&second, "one_get", json!({ "key": "new" })).await?;
    assert_eq!(seen, json!({ "value": "1" }));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_state_has_acknowledged_outlives_a_trap_and_a_timeout() -> Result<()> {
    let stage = stage(16)?;
    let host = stage.open().await?;
    let arguments = json!({ "key": "kept", "value": "v" });
    let outcome = call(&host, "state_set_and_trap", arguments).await;
    ensure!(outcome.kind() == OutcomeKind::Trapped, "{outcome:?}");
    let get = json!({ "key": "kept" });
    assert_eq!(
        state(&host, "get", get.clone()).await?,
        json!({ "value": "v" })
    );

    // Ended in the midst of many increments: the store holds a whole number of them.
    let short = CallOptions {
        timeout: Some(std::time::Duration::from_millis(300)),
        ..CallOptions::default()
    };
    let forever = json!({ "key": "n", "times": 100_000_000 }).to_string();
    let report = host.call("state_increment", &forever, short).await;
    assert_eq!(report.outcome.kind(), OutcomeKind::TimedOut);
    let sum = state(&host, "increment", json!({ "key": "n" })).await?;
    ensure!(sum["sum"].as_u64().is_some_and(|sum| sum >= 1), "{sum}");
    assert_eq!(state(&host, "get", get).await?, json!({ "value": "v" }));
    Ok(())
}

fn counting(root: &Path) -> Result<Stage> {
    Ok(Stage::at(root)?.capabilities("max_state_kb = 16"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_processes_of_a_thousand_increments_end_at_four_thousand() -> Result<()> {
    if let Some(root) = process::role() {
        let stage = counting(Path::new(&root))?;
        let host = stage.open().await?;
        // Some in one call, some in calls of their own.
        for _ in 0..100 {
            state(&host, "increment", json!({ "key": "n" })).await?;
        }
        state(&host, "increment", json!({ "key": "n", "times": 900 })).await?;
        return Ok(());
    }
    let owner = stage(16)?;
    let test = four_processes_of_a_thousand_increments_end_at_four_thousand;
    process::several(&test, 4, owner.root())?;
    let host = owner.open().await?;
    let total = state(&host, "get", json!({ "key": "n" })).await?;
    assert_eq!(total, json!({ "value": "4000" }));
    Ok(())
}

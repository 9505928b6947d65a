//! What a host offers besides WASI and state: settings, log and progress, each as `wit/`
//! says.

use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, Event};
use prx_tests::Stage;
use prx_tests::calls::{structured, text};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_arrive_in_order_and_only_at_their_own_entry() -> Result<()> {
    let settings = "[tools.custom.set]\nmodule = \"config.wasm\"\n[tools.custom.set.config]\n\
        zeta = \"d\\\"e\"\nalpha = 5\nlist = [1, \"two\", { three = 3.5 }]\nflag = true\n\
        [tools.custom.set.config.table]\nb = 1\na = 2\n\
        [tools.custom.unset]\nmodule = \"config.wasm\"";
    let stage = Stage::new()?.guests(&["config"])?.entries(settings);
    let host = stage.open().await?;
    let keys = structured(&host, "set_keys", json!({})).await?;
    let order = json!(["zeta", "alpha", "list", "flag", "table"]);
    assert_eq!(keys, json!({ "keys": order }));
    let all = structured(&host, "set_all", json!({})).await?;
    let expected = json!({
        "zeta": "d\"e", "alpha": 5, "list": [1, "two", { "three": 3.5 }], "flag": true,
        "table": { "b": 1, "a": 2 },
    });
    assert_eq!(all, expected);
    let text = structured(&host, "set_get", json!({ "key": "zeta" })).await?;
    assert_eq!(text, json!({ "json": "\"d\\\"e\"" }));
    for key in ["missing", "", "table.b"] {
        let none = structured(&host, "set_get", json!({ "key": key })).await?;
        assert_eq!(none, json!({ "json": null }), "{key}");
    }
    let none = structured(&host, "unset_keys", json!({})).await?;
    assert_eq!(none, json!({ "keys": [] }));
    Ok(())
}

/// What was heard of a call, as text: one line for each event.
async fn heard(host: &Host, tool: &str) -> Result<Vec<String>> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&lines);
    let options = CallOptions {
        events: Some(Arc::new(move |event: Event<'_>| {
            let line = match event {
                Event::Log {
                    level,
                    message,
                    fields,
                } => {
                    format!("{}: {message} {fields:?}", level.as_str())
                }
                Event::Progress(progress) => {
                    format!(
                        "{} of {:?}: {:?}",
                        progress.done, progress.total, progress.message
                    )
                }
                Event::Stdout(bytes) => format!("out: {}", String::from_utf8_lossy(bytes)),
                Event::Stderr(bytes) => format!("err: {}", String::from_utf8_lossy(bytes)),
                other => format!("{other:?}"),
            };
            writer.lock().expect("no listener panics").push(line);
        })),
        ..CallOptions::default()
    };
    let report = host.call(tool, "{}", options).await;
    ensure!(
        report.outcome.ok().is_some(),
        "{tool}: {:?}",
        report.outcome
    );
    let lines = std::mem::take(&mut *lines.lock().expect("no listener panics"));
    Ok(lines)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_and_progress_arrive_in_order_and_make_sense() -> Result<()> {
    let stage = Stage::new()?.guests(&["log_progress"])?;
    let host = stage.open().await?;
    let log = heard(&host, "log_progress_log").await?;
    let levels = ["trace", "debug", "info", "warn", "error"];
    assert_eq!(log.len(), levels.len(), "{log:?}");
    for (rank, (line, level)) in log.iter().zip(levels).enumerate() {
        let expected = format!(
            "{level}: message {rank} [(\"rank\", \"{rank}\"), (\"note\", \"two words\\nand a line\")]"
        );
        assert_eq!(*line, expected);
    }
    let fractions = heard(&host, "log_progress_fractions").await?;
    let expected = [
        "0.25 of Some(1.0): Some(\"a quarter\")",
        "0.5 of Some(1.0): None",
        "1 of Some(1.0): Some(\"the whole\")",
    ];
    assert_eq!(fractions, expected);
    let counts = heard(&host, "log_progress_counts").await?;
    let expected = [
        "1 of Some(3.0): Some(\"first\")",
        "2 of Some(3.0): None",
        "3 of Some(3.0): Some(\"last\")",
    ];
    assert_eq!(counts, expected);
    let unknown = heard(&host, "log_progress_unknown_total").await?;
    assert_eq!(
        unknown,
        ["1 of None: None", "2 of None: None", "3 of None: None"]
    );
    let streams = heard(&host, "log_progress_streams").await?;
    assert_eq!(
        streams.concat(),
        "out: to standard output\nerr: to standard error\n"
    );
    // Nobody listens: nothing is missing for the guest.
    assert_eq!(text(&host, "log_progress_counts", json!({})).await?, "done");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_progress_is_left_out() -> Result<()> {
    let stage = Stage::new()?.guests(&["log_progress"])?;
    let host = stage.open().await?;
    let odd = heard(&host, "log_progress_odd").await?;
    assert_eq!(
        odd.first().map(String::as_str),
        Some("0.5 of Some(1.0): Some(\"half\")")
    );
    for nonsense in [
        "back",
        "nan",
        "infinite",
        "negative",
        "seven",
        "more than all",
        "all of none",
    ] {
        ensure!(
            !odd.iter().any(|line| line.contains(nonsense)),
            "{nonsense}: {odd:?}"
        );
    }
    Ok(())
}

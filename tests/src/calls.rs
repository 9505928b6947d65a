//! Calls and what must come of them, said in one line.

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{CallOptions, CallReport, Outcome, ToolOutput};
use serde_json::{Value, json};

use crate::stage::HEALTHY;

/// Calls a tool.
#[allow(
    clippy::needless_pass_by_value,
    reason = "called with `json!` literals"
)]
pub async fn call(host: &Host, tool: &str, arguments: Value) -> Outcome {
    report(host, tool, arguments).await.outcome
}

/// Calls a tool and gives all that is known of the call.
#[allow(
    clippy::needless_pass_by_value,
    reason = "called with `json!` literals"
)]
pub async fn report(host: &Host, tool: &str, arguments: Value) -> CallReport {
    host.call(tool, &arguments.to_string(), CallOptions::default())
        .await
}

/// Calls a tool that must answer.
pub async fn answer(host: &Host, tool: &str, arguments: Value) -> Result<ToolOutput> {
    match call(host, tool, arguments).await {
        Outcome::Ok(output) => Ok(output),
        other => bail!("`{tool}` did not answer: {other:?}"),
    }
}

/// Calls a tool that must answer with text.
pub async fn text(host: &Host, tool: &str, arguments: Value) -> Result<String> {
    Ok(answer(host, tool, arguments).await?.text())
}

/// Calls a tool that must answer with structure.
pub async fn structured(host: &Host, tool: &str, arguments: Value) -> Result<Value> {
    let output = answer(host, tool, arguments).await?;
    output
        .structured
        .with_context(|| format!("`{tool}` gave no structure"))
}

/// Proves that a host still gives right answers, whatever was called before.
pub async fn assert_healthy(host: &Host) -> Result<()> {
    let [echo, trivial] = HEALTHY;
    let sent = json!({ "text": "h\u{e9}\n", "list": [1, null, { "deep": true }] });
    let echoed = structured(host, echo, sent.clone()).await?;
    ensure!(echoed == sent, "`{echo}` answered {echoed}");
    let sum = structured(host, trivial, json!({ "text": "abc", "numbers": [2, 40] })).await?;
    ensure!(
        sum == json!({ "characters": 3, "sum": 42 }),
        "`{trivial}` answered {sum}"
    );
    Ok(())
}

/// Why an entry does not serve: its only reason, and that none of its tools can be called.
pub fn broken(host: &Host, entry: &str) -> Result<String> {
    let snapshot = host.snapshot();
    let mut reasons = snapshot
        .broken()
        .iter()
        .filter(|broken| broken.name == entry);
    let broken = reasons
        .next()
        .with_context(|| format!("`{entry}` is not broken"))?;
    ensure!(reasons.next().is_none(), "`{entry}` is broken twice");
    let serves = snapshot.tools().any(|tool| {
        tool.entry().name() == entry
            && broken.module.as_deref() == tool.entry().module().map(|module| module.path())
    });
    ensure!(!serves, "`{entry}` is broken and serves");
    ensure!(
        !broken.reason.trim().is_empty() && !broken.reason.contains('\n'),
        "not one line: {:?}",
        broken.reason
    );
    Ok(broken.reason.clone())
}

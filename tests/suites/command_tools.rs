//! Tools that are made of commands, from their entry to the caller's answer. How each
//! backend runs commands is in the suite `adapters`; here it is this machine.

use std::fs;

use anyhow::{Result, bail, ensure};
use prx_host::Host;
use prx_host::model::{
    CallOptions, Content, LimitKind, Outcome, OutcomeKind, ToolErrorKind, TrapKind,
};
use prx_tests::Stage;
use prx_tests::calls::{answer, call, report, structured, text};
use serde_json::json;

/// A host whose commands run on this machine, in the sandbox that works.
async fn host(stage: &Stage) -> Result<Host> {
    Ok(stage.host()?.open().await?)
}

fn stage(entries: &str) -> Result<Stage> {
    let stage = Stage::new()?;
    let workspace = stage.folder("workspace")?.display().to_string();
    Ok(stage
        .runtime(&format!("backend = \"native\"\nworkspace = {workspace:?}"))
        .entries(entries))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_is_one_argument_whatever_is_in_it() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.show]
        command = "printf"
        args = ["--", "<%s>", "{text}", ["-e", "{more}"], "{loud?LOUD}", "n={number}"]
        [tools.custom.show.parameters]
        text = { type = "string", required = true }
        more = { type = "array", items = { type = "string" } }
        loud = { type = "boolean", default = false }
        number = { type = "integer" }
        "#,
    )?;
    let host = host(&stage).await?;
    for value in [
        "a b",
        "$(touch pwned)",
        "`id`",
        "; rm -rf .",
        "\"'\n\t\\",
        "-rf",
        "*",
        "",
        "\u{fc}",
    ] {
        let shown = text(&host, "show", json!({ "text": value })).await?;
        assert_eq!(shown, format!("<{value}>"));
    }
    let all = json!({ "text": "t", "more": ["a b", "-c"], "loud": true, "number": -3 });
    assert_eq!(
        text(&host, "show", all).await?,
        "<t><-e><a b><-e><-c><LOUD><n=-3>"
    );
    ensure!(
        !stage.path("workspace/pwned").exists(),
        "a shell read a value"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_would_be_an_option_is_refused_and_nothing_runs() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.touch]
        command = "touch"
        args = ["made", "{file}"]
        "#,
    )?;
    let host = host(&stage).await?;
    let Outcome::InvalidArguments(faults) = call(&host, "touch", json!({ "file": "-t" })).await
    else {
        bail!("it was not refused");
    };
    assert_eq!(faults[0].path, "/file");
    ensure!(!stage.path("workspace/made").exists(), "it ran");
    answer(&host, "touch", json!({ "file": "other" })).await?;
    ensure!(stage.path("workspace/made").exists(), "it did not run");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_are_checked_against_the_parameters_before_anything_runs() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.touch]
        command = "touch"
        args = ["--", "{file}"]
        [tools.custom.touch.parameters]
        file = { type = "string", required = true, maxLength = 8 }
        "#,
    )?;
    let host = host(&stage).await?;
    for wrong in [
        json!({}),
        json!({ "file": 5 }),
        json!({ "file": "123456789" }),
        json!({ "file": "a", "b": 1 }),
    ] {
        let outcome = call(&host, "touch", wrong.clone()).await;
        assert_eq!(outcome.kind(), OutcomeKind::InvalidArguments, "{wrong}");
    }
    assert_eq!(fs::read_dir(stage.path("workspace"))?.count(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_and_output_are_what_the_entry_says() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.json]
        command = "cat"
        stdin = "json"
        output = "json"
        [tools.custom.json.parameters]
        a = { type = "string", required = true }
        b = { type = "integer", default = 5 }
        [tools.custom.upper]
        command = "tr a-z A-Z"
        stdin = "{text}!"
        [tools.custom.silent]
        command = "true"
        [tools.custom.broken]
        command = "echo '{'"
        output = "json"
        [tools.custom.closed]
        command = "cat; echo end"
        "#,
    )?;
    let host = host(&stage).await?;
    let given = structured(&host, "json", json!({ "a": "\u{e9}\n" })).await?;
    assert_eq!(given, json!({ "a": "\u{e9}\n", "b": 5 }));
    assert_eq!(
        text(&host, "upper", json!({ "text": "-n $HOME" })).await?,
        "-N $HOME!"
    );
    assert_eq!(answer(&host, "silent", json!({})).await?.contents, []);
    assert_eq!(text(&host, "closed", json!({})).await?, "end\n");
    let Outcome::ToolError(error) = call(&host, "broken", json!({})).await else {
        bail!("it is no JSON");
    };
    ensure!(
        error.message.contains("did not print JSON"),
        "{}",
        error.message
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_told_with_what_the_command_said() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.fails]
        command = "echo found it; echo oh no >&2; exit 3"
        [tools.custom.finds]
        command = "echo found it; exit 1"
        success_exit_codes = [0, 1]
        [tools.custom.dies]
        command = "kill -SEGV $$"
        [tools.custom.missing]
        command = "no-such-program"
        args = ["x"]
        "#,
    )?;
    let host = host(&stage).await?;
    let failed = report(&host, "fails", json!({})).await;
    let Outcome::ToolError(error) = &failed.outcome else {
        bail!("{:?}", failed.outcome);
    };
    assert_eq!(error.kind, ToolErrorKind::Failed);
    ensure!(
        error.message.ends_with("exited with code 3:\noh no"),
        "{}",
        error.message
    );
    assert_eq!(error.data, Some(json!({ "exit_code": 3 })));
    assert_eq!(failed.stdout.text(), "found it\n");
    assert_eq!(text(&host, "finds", json!({})).await?, "found it\n");
    let Outcome::Trapped(trap) = call(&host, "dies", json!({})).await else {
        bail!("a signal ended it");
    };
    assert_eq!(trap.kind, TrapKind::Signal);
    ensure!(
        trap.message.contains("signal 11 (SIGSEGV)"),
        "{}",
        trap.message
    );
    let Outcome::Unavailable { reason, help } = call(&host, "missing", json!({})).await else {
        bail!("there is no such program");
    };
    ensure!(
        reason.contains("`no-such-program`") && help.is_some(),
        "{reason}: {help:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limits_of_the_entry_hold() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.slow]
        command = "echo begun; sleep 60"
        timeout_secs = 0.4
        [tools.custom.loud]
        command = "head -c 100000 /dev/zero | tr '\\0' x"
        max_output_bytes = 10
        [tools.custom.loud_json]
        command = "head -c 100000 /dev/zero | tr '\\0' 1"
        output = "json"
        max_output_bytes = 10
        "#,
    )?;
    let host = host(&stage).await?;
    let slow = report(&host, "slow", json!({})).await;
    let Outcome::TimedOut { set_by, .. } = &slow.outcome else {
        bail!("{:?}", slow.outcome);
    };
    ensure!(
        set_by.contains("tools.custom.slow.timeout_secs"),
        "{set_by}"
    );
    assert_eq!(slow.stdout.text(), "begun\n");
    let loud = answer(&host, "loud", json!({})).await?;
    let [Content::Text { text }, Content::Text { text: note }] = loud.contents.as_slice() else {
        bail!("{:?}", loud.contents);
    };
    assert_eq!(text, "xxxxxxxxxx");
    ensure!(
        note.contains("tools.custom.loud.max_output_bytes"),
        "{note}"
    );
    let cut = call(&host, "loud_json", json!({})).await;
    assert_eq!(
        cut,
        Outcome::LimitReached {
            kind: LimitKind::OutputBytes,
            limit: 10
        }
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_ends_its_command() -> Result<()> {
    let stage = stage("[tools.custom.wait]\ncommand = \"echo begun; sleep 60\"\n")?;
    let host = host(&stage).await?;
    let cancel = tokio_util::sync::CancellationToken::new();
    let options = CallOptions {
        cancel: Some(cancel.clone()),
        // Cancelled by its first output: it certainly runs by then.
        events: Some(std::sync::Arc::new(move |_| cancel.cancel())),
        ..CallOptions::default()
    };
    let report = host.call("wait", "{}", options).await;
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.stdout.text(), "begun\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_reach_the_tool_they_are_for_and_nobody_else() -> Result<()> {
    let stage = stage(
        r#"
        [tools.custom.has]
        command = "echo $FROM_FILE $FROM_HOST"
        env = { FROM_FILE = { file = "secret.txt" }, FROM_HOST = { env = "THEIR_API_KEY" } }
        [tools.custom.has_not]
        command = "env"
        [tools.custom.no_variable]
        command = "env"
        env = { KEY = { env = "NOT_SET_TOKEN" } }
        [tools.custom.no_file]
        command = "env"
        env = { KEY = { file = "not-there" } }
        "#,
    )?
    .variable("THEIR_API_KEY", "s3cret-of-host")
    .variable("PATH", "/usr/bin:/bin");
    fs::write(stage.path("secret.txt"), "s3cret-of-file\n")?;
    let host = host(&stage).await?;
    let both = text(&host, "has", json!({})).await?;
    assert_eq!(both, "s3cret-of-file s3cret-of-host\n");
    let others = text(&host, "has_not", json!({})).await?;
    ensure!(
        !others.contains("s3cret") && !others.contains("API_KEY"),
        "{others}"
    );
    let snapshot = host.snapshot();
    let told: Vec<&str> = snapshot
        .broken()
        .iter()
        .map(|broken| broken.reason.as_str())
        .collect();
    let named = |name: &str, what: &str| {
        told.iter()
            .any(|told| told.contains(name) && told.contains(what))
    };
    ensure!(
        named("tools.custom.no_variable.env.KEY", "NOT_SET_TOKEN"),
        "{told:?}"
    );
    ensure!(
        named("tools.custom.no_file.env.KEY", "not-there"),
        "{told:?}"
    );
    let shown = format!("{:?}", host.config().effective());
    ensure!(
        !shown.contains("s3cret"),
        "the configuration shows a secret"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skill_reads_secrets_through_its_configuration() -> Result<()> {
    let stage = Stage::new()?
        .guests(&["config"])?
        .variable("THEIR_API_KEY", "s3cret")
        .entries("[tools.custom.config.config]\ntoken = { env = \"THEIR_API_KEY\" }\n");
    let host = stage.host()?.open().await?;
    let got = structured(&host, "config_get", json!({ "key": "token" })).await?;
    assert_eq!(got, json!({ "json": "\"s3cret\"" }));
    let shown = format!("{:?}", host.config().effective());
    ensure!(
        !shown.contains("s3cret"),
        "the configuration shows a secret"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shell_is_off_by_default_and_sandboxed_when_on() -> Result<()> {
    let off = stage("")?;
    let outcome = call(&host(&off).await?, "shell", json!({ "command": "id" })).await;
    assert_eq!(outcome.kind(), OutcomeKind::UnknownTool);

    let on = stage("[tools.shell]\nenabled = true\n")?;
    let secret = on.path("secret.txt");
    fs::write(&secret, "s3cret")?;
    let host_on = host(&on).await?;
    let line = "echo 'one  two' | wc -w; echo made > file";
    assert_eq!(
        text(&host_on, "shell", json!({ "command": line }))
            .await?
            .trim(),
        "2"
    );
    assert_eq!(fs::read_to_string(on.path("workspace/file"))?, "made\n");
    let read = json!({ "command": format!("cat {}", secret.display()) });
    let Outcome::ToolError(error) = call(&host_on, "shell", read).await else {
        bail!("the sandbox showed a secret");
    };
    ensure!(!error.message.contains("s3cret"), "{}", error.message);

    let bare = stage("[tools.shell]\nenabled = true\n[security.sandbox]\nbackend = \"none\"\n")?;
    let bare = host(&bare).await?;
    let Outcome::Unavailable { reason, .. } =
        call(&bare, "shell", json!({ "command": "id" })).await
    else {
        bail!("a shell without a sandbox");
    };
    ensure!(reason.contains("sandbox only"), "{reason}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_that_is_named_and_does_not_work_stops_every_command() -> Result<()> {
    let stage = stage(
        "[tools.custom.id]\ncommand = \"id\"\n[security.sandbox]\nbackend = \"bubblewrap\"\n",
    )?
    .variable("PATH", "/nowhere");
    let outcome = call(&host(&stage).await?, "id", json!({})).await;
    let Outcome::Unavailable { reason, help } = outcome else {
        bail!("it ran without its sandbox: {outcome:?}");
    };
    ensure!(
        reason.contains("bubblewrap") && help.is_some(),
        "{reason}: {help:?}"
    );
    Ok(())
}

//! Memory, processes and output have their limits, and reaching one is said as such.

use std::collections::HashMap;

use anyhow::{Context as _, Result, ensure};
use prx_host::{
    DockerAdapter, Ending, Execution, ExecutionOutput, Host, Program, RuntimeAdapter as _,
    RuntimeError, docker_health,
};
use prx_tests::containers::{Kind, LONG, Yard, printed};

const GREEDY: &str = "echo begun; x=a; while :; do x=$x$x; done";

/// An adapter with a limit that is written; `None` where the engine can enforce none, and
/// then writing it is an error that says where.
async fn limited(yard: &Yard, key: &str) -> Result<Option<DockerAdapter>> {
    if Kind::given()?.enforces_limits() {
        return Ok(Some(yard.adapter().await?));
    }
    let with_tool = Yard::with(&format!(
        "{}[tools.custom.boxed]\ntype = \"docker\"\ncommand = \"true\"\n",
        yard.docker
    ))?;
    let yard = &with_tool;
    let error = yard.adapter().await.err();
    let error = error.context("a limit that is not enforced")?.to_string();
    ensure!(
        error.contains(&format!("runtime.docker.{key} (")),
        "{error}"
    );
    ensure!(error.contains("config.toml:"), "{error}");
    ensure!(error.contains("can not enforce"), "{error}");
    let builder = Host::builder(yard.config()?).environment(yard.environment());
    let host = Box::pin(builder.open()).await?;
    let not_ready = host.not_ready(&host.snapshot()).await;
    ensure!(
        not_ready.iter().any(|it| error.contains(&it.reason)),
        "{not_ready:?}"
    );
    let health = docker_health(&yard.config()?, &yard.environment()).await;
    ensure!(
        !health.usable && error.ends_with(&health.notes[0]),
        "{health:?}"
    );
    Ok(None)
}

async fn shell(adapter: &DockerAdapter, line: &str) -> Result<ExecutionOutput> {
    let none = HashMap::new();
    let execution = Execution::new(Program::Shell(line), &none, LONG);
    Ok(adapter.run(execution).await?)
}

/// Whether it was killed for its memory, as this engine tells it.
async fn ran_out(yard: &Yard, output: &ExecutionOutput, limit: u64) -> Result<()> {
    let health = docker_health(&yard.config()?, &yard.environment()).await;
    let version = health.version.context("a version")?;
    let notes = health.notes.join("\n");
    if version.starts_with("Podman 4") {
        ensure!(notes.contains("it ends with exit code 137"), "{notes}");
        assert_eq!(output.exit_code, Some(137));
        assert_eq!(output.ending, Ending::Exited);
    } else {
        ensure!(!notes.contains("137"), "{notes}");
        assert_eq!(output.ending, Ending::OutOfMemory { limit });
        assert_eq!(output.exit_code, None);
    }
    Ok(())
}

#[tokio::test]
async fn a_command_killed_for_its_memory_is_said_to_be() -> Result<()> {
    let yard = Yard::with("memory_limit = \"16m\"\n")?;
    let Some(adapter) = limited(&yard, "memory_limit").await? else {
        return Ok(());
    };
    let output = shell(&adapter, GREEDY).await?;
    ran_out(&yard, &output, 16 << 20).await?;
    assert_eq!(output.stdout.bytes, b"begun\n");
    Ok(())
}

#[tokio::test]
async fn a_call_may_have_less_memory_than_configured() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let mut execution = Execution::new(Program::Shell(GREEDY), &none, LONG);
    execution.max_memory = Some(12 << 20);
    let ran = adapter.run(execution).await;
    if !Kind::given()?.enforces_limits() {
        let error = ran.expect_err("a limit that is not enforced").to_string();
        ensure!(error.contains("`max_memory_mb`"), "{error}");
        return Ok(());
    }
    ran_out(&yard, &ran?, 12 << 20).await
}

#[tokio::test]
async fn a_limit_below_what_the_engine_takes_is_an_error_that_says_so() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let mut execution = Execution::new(Program::Shell("true"), &none, LONG);
    execution.max_memory = Some(4096);
    let error = adapter.run(execution).await.expect_err("too little");
    if !Kind::given()?.enforces_limits() {
        ensure!(
            matches!(error, RuntimeError::Unavailable { .. }),
            "{error:?}"
        );
        return Ok(());
    }
    ensure!(
        matches!(error, RuntimeError::InvalidInput { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("limit of memory"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_command_whose_child_was_killed_for_memory_may_go_on_and_succeed() -> Result<()> {
    let yard = Yard::with("memory_limit = \"16m\"\n")?;
    let Some(adapter) = limited(&yard, "memory_limit").await? else {
        return Ok(());
    };
    let line = "( x=a; while :; do x=$x$x; done ); echo went on";
    let output = shell(&adapter, line).await?;
    assert_eq!(printed(&output)?, "went on\n");
    assert_eq!(output.ending, Ending::Exited);
    Ok(())
}

#[tokio::test]
async fn a_command_killed_by_itself_is_not_out_of_memory() -> Result<()> {
    let yard = Yard::new()?;
    let output = yard.shell("kill -9 $$").await?;
    assert_eq!(output.ending, Ending::Exited);
    assert_eq!(output.exit_code, Some(137), "as the init process says it");
    Ok(())
}

#[tokio::test]
async fn no_more_processes_than_allowed_can_be_started() -> Result<()> {
    let yard = Yard::with("pids_limit = 5\n")?;
    let Some(adapter) = limited(&yard, "pids_limit").await? else {
        return Ok(());
    };
    let line = "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; echo all";
    let output = shell(&adapter, line).await?;
    let said = String::from_utf8_lossy(&output.stderr.bytes).into_owned();
    assert!(said.contains("can't fork"), "{said}");
    assert_ne!(output.exit_code, Some(0));
    Ok(())
}

#[tokio::test]
async fn memory_and_processors_are_the_groups_of_the_container() -> Result<()> {
    let yard = Yard::with("memory_limit = \"48m\"\ncpu_limit = \"0.5\"\n")?;
    let Some(adapter) = limited(&yard, "memory_limit").await? else {
        return Ok(());
    };
    // The two versions of control groups have other names for the same.
    let line = "cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes memory.max 2>/dev/null; \
                cat cpu/cpu.cfs_quota_us cpu.max 2>/dev/null; true";
    let output = shell(&adapter, line).await?;
    let text = printed(&output)?;
    let numbers: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(numbers.first(), Some(&"50331648"), "{text}");
    assert_eq!(numbers.get(1), Some(&"50000"), "{text}");
    Ok(())
}

#[tokio::test]
async fn output_past_the_limit_is_counted_and_the_command_goes_on() -> Result<()> {
    let mut yard = Yard::new()?;
    yard.runtime = "max_output_bytes = 1000\n".into();
    let line = "(yes | head -c 5000000); (yes e | head -c 3000000 >&2); echo end > done";
    let output = yard.shell(line).await?;
    assert!(output.is_success(), "{:?}", output.ending);
    assert_eq!(output.stdout.bytes.len(), 1000);
    assert_eq!(output.stdout.dropped, 5_000_000 - 1000);
    assert_eq!(output.stderr.bytes.len(), 1000);
    assert_eq!(output.stderr.dropped, 3_000_000 - 1000);
    assert!(yard.workspace().join("done").exists());
    Ok(())
}

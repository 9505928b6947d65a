//! Which modules are commands, how they are found, and that each is compiled once.

use std::fs;

use anyhow::{Result, ensure};
use prx_host::RuntimeError;
use prx_tests::Stage;
use prx_tests::commands::{printed, run};

use super::{COMMAND, core_exit, stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_run_is_refused_with_the_reason() -> Result<()> {
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            "reactor",
            r#"(module (memory (export "memory") 1) (func (export "_initialize")))"#,
            &["reactor", "no `_start`"],
        ),
        (
            "parameters",
            r#"(module (func (export "_start") (param i32) (result i32) (local.get 0)))"#,
            &["`(i32) -> (i32)`"],
        ),
        (
            "memory_as_start",
            r#"(module (memory (export "_start") 1))"#,
            &["its `_start` is no function"],
        ),
        (
            "imports",
            r#"(module
                (import "env" "one" (func)) (import "wasi" "thread-spawn" (func (param i32) (result i32)))
                (import "wasi_snapshot_preview1" "fd_levitate" (func))
                (import "wasi_unstable" "sock_accept" (func))
                (func (export "_start")))"#,
            &[
                "`env one`",
                "`wasi thread-spawn`",
                "`wasi_snapshot_preview1 fd_levitate`",
                "`wasi_unstable sock_accept`",
            ],
        ),
        (
            "shared",
            r#"(module (memory (export "memory") 1 2 shared) (func (export "_start")))"#,
            &["shared by threads"],
        ),
        ("skill", "", &["this is a skill, and no command"]),
    ];
    let mut stage = Stage::new()?;
    for (name, text, _) in &cases[..5] {
        stage = stage.module(name, &wat::parse_str(text)?)?;
    }
    fs::copy(
        stage.path("modules/echo.wasm"),
        stage.path("modules/skill.wasm"),
    )?;
    let adapter = stage.wasm_adapter()?;
    for (name, _, said) in cases {
        let refused = run(&adapter, name, &[]).await;
        let Err(RuntimeError::NotExecutable { reason, .. }) = refused else {
            panic!("{name}: {refused:?}");
        };
        for part in said {
            ensure!(reason.contains(part), "{name}: {reason}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_command_is_named_with_the_nearest_and_the_folder() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    let folder = stage.path("modules").display().to_string();
    for missing in [
        "comand",
        "nothing_like_it",
        "sub/command",
        "/no/such/file",
        "",
    ] {
        let refused = run(&adapter, missing, &[]).await;
        let Err(error @ RuntimeError::CommandNotFound { .. }) = refused else {
            panic!("{missing}: {refused:?}");
        };
        ensure!(error.to_string().contains(&folder), "{error}");
        let help = error.help().unwrap_or_default();
        let nearest = help.contains("did you mean `command`?");
        assert_eq!(nearest, missing == "comand", "{missing}: {help}");
    }
    fs::copy(
        stage.path("modules/command.wasm"),
        stage.path("beside.wasm"),
    )?;
    for outside in ["../beside.wasm", "./../beside.wasm"] {
        let refused = run(&adapter, outside, &[]).await;
        let is_refused = matches!(refused, Err(RuntimeError::NotExecutable { .. }));
        ensure!(is_refused, "{outside}: {refused:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_version_of_wasi_is_served_too() -> Result<()> {
    let text = WRITES.replace("MODULE", "wasi_unstable");
    let stage = Stage::new()?.module("old", &wat::parse_str(text)?)?;
    let adapter = stage.wasm_adapter()?;
    let output = run(&adapter, "old", &[]).await?;
    assert_eq!(output.stdout.bytes, b"hello\n");
    assert_eq!(output.exit_code, Some(200));
    Ok(())
}

/// A core module that greets and exits with 200.
const WRITES: &str = r#"(module
    (import "MODULE" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "MODULE" "proc_exit" (func $exit (param i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "\08\00\00\00\06\00\00\00hello\n")
    (func (export "_start")
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 20)))
      (call $exit (i32.const 200))))"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_is_run_as_it_is_now() -> Result<()> {
    let stage = stage()?.module("changes", &core_exit()?)?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(run(&adapter, "changes", &["x"]).await?.exit_code, Some(1));
    fs::write(stage.path("modules/changes.wasm"), "half of")?;
    let refused = run(&adapter, "changes", &[]).await;
    ensure!(
        matches!(refused, Err(RuntimeError::NotExecutable { .. })),
        "{refused:?}"
    );
    let text = WRITES.replace("MODULE", "wasi_snapshot_preview1");
    fs::write(stage.path("modules/changes.wasm"), wat::parse_str(text)?)?;
    assert_eq!(run(&adapter, "changes", &[]).await?.exit_code, Some(200));
    fs::remove_file(stage.path("modules/changes.wasm"))?;
    let refused = run(&adapter, "changes", &[]).await;
    ensure!(
        matches!(refused, Err(RuntimeError::CommandNotFound { .. })),
        "{refused:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_and_an_adapter_share_what_is_compiled() -> Result<()> {
    let stage = stage()?.own_cache();
    let adapter = stage.wasm_adapter()?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    let host = stage.open().await?;
    // The two skills are new to the cache, and the command is not.
    assert_eq!(host.cache_statistics().misses, 2);
    // And the other way round: nobody compiles now.
    let compiled = files_in(&stage)?;
    let later = stage.wasm_adapter()?;
    assert_eq!(printed(&later, COMMAND, &[]).await?, "1\n");
    assert_eq!(files_in(&stage)?, compiled);
    Ok(())
}

/// The files of the cache.
fn files_in(stage: &Stage) -> Result<std::collections::BTreeSet<std::ffi::OsString>> {
    let entries = fs::read_dir(stage.path("cache"))?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

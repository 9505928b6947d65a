//! WASI commands: whatever a program does, its adapter says exactly how it ended, and it
//! touched what was granted and nothing else. Here: what reaches a program, and what it
//! says.

mod ends;
mod first;
mod grants;
mod modules;

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_host::{RuntimeAdapter as _, RuntimeError};
use prx_tests::Stage;
use prx_tests::commands::{arguments, execution, printed, run, said};

/// The guest that does what its first argument says.
const COMMAND: &str = "command";

fn stage() -> Result<Stage> {
    Stage::new()?.guests(&[COMMAND])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_arrive_as_they_were_given() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    let odd = [
        "arguments",
        "",
        "two words",
        "line\nbreak",
        "\"quoted\"",
        "'",
        "$HOME",
        "*",
        "-x",
        "--",
        "a=b",
        "\\",
        "\u{e9}\u{1f600}",
        "; rm -rf /",
    ];
    let mut expected = vec![COMMAND];
    expected.extend(odd);
    let heard = printed(&adapter, COMMAND, &odd).await?;
    assert_eq!(heard.trim_end(), format!("{expected:?}"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_arguments_the_command_is_the_whole_name_of_a_module() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    let nothing = HashMap::new();
    for command in [COMMAND, "command.wasm"] {
        let output = adapter
            .execute(command, &[], &nothing, None, Duration::from_mins(1))
            .await?;
        assert_eq!(said(command, &output)?, "1\n");
    }
    let absolute = stage.path("modules/command.wasm");
    let absolute = absolute.to_str().unwrap_or_default();
    let copy = stage.path("elsewhere");
    fs::copy(absolute, &copy)?;
    for command in [absolute, copy.to_str().unwrap_or_default()] {
        let heard = printed(&adapter, command, &["arguments"]).await?;
        assert_eq!(heard.trim_end(), format!("{:?}", [command, "arguments"]));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_argument_that_would_be_cut_is_refused() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    let refused = run(&adapter, COMMAND, &["arguments", "a\0b"]).await;
    let Err(RuntimeError::InvalidInput { what, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(what, "argument 2");
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
        let env = HashMap::from([(name.to_owned(), value.to_owned())]);
        let args = arguments(&["variables"]);
        let mut execution = execution(COMMAND, &args);
        execution.env = &env;
        let refused = adapter.run(execution).await;
        let is_refused = matches!(refused, Err(RuntimeError::InvalidInput { .. }));
        ensure!(is_refused, "{name:?}: {refused:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_variables_that_both_lists_name_are_seen_and_what_the_caller_adds() -> Result<()> {
    let stage = stage()?
        .runtime(r#"env_whitelist = ["LANG", "HOME", "TERM"]"#)
        .capabilities(r#"env_vars = ["LANG", "TERM", "API_TOKEN"]"#)
        .variable("LANG", "de_DE")
        .variable("TERM", "xterm")
        .variable("API_TOKEN", "hunter2");
    let adapter = stage.wasm_adapter()?;
    let env = HashMap::from([
        ("ADDED".to_owned(), "a b".to_owned()),
        ("TERM".to_owned(), "dumb".to_owned()),
    ]);
    let args = arguments(&["variables"]);
    let mut execution = execution(COMMAND, &args);
    execution.env = &env;
    let output = adapter.run(execution).await?;
    let expected = [("LANG", "de_DE"), ("ADDED", "a b"), ("TERM", "dumb")];
    assert_eq!(said(COMMAND, &output)?.trim_end(), format!("{expected:?}"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standard_input_is_what_was_given_or_at_its_end() -> Result<()> {
    let stage = stage()?.wasm("max_memory_mb = 64");
    let adapter = stage.wasm_adapter()?;
    assert_eq!(printed(&adapter, COMMAND, &["copy"]).await?, "");
    let args = arguments(&["copy"]);
    let all_bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    for input in [&b""[..], b"a\0b\xff\n", &all_bytes] {
        let mut execution = execution(COMMAND, &args);
        execution.stdin = Some(input);
        execution.max_output = Some(8 << 20);
        let output = adapter.run(execution).await?;
        ensure!(output.stdout.bytes == input, "{} bytes", input.len());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_past_the_limit_is_counted_and_hurts_nobody() -> Result<()> {
    let stage = stage()?.runtime("max_output_bytes = 1000");
    let adapter = stage.wasm_adapter()?;
    let flood = 32 << 20;
    let output = run(&adapter, COMMAND, &["flood", &flood.to_string()]).await?;
    assert_eq!(output.exit_code, Some(0));
    for stream in [&output.stdout, &output.stderr] {
        assert_eq!(stream.bytes, [b'x'; 1000]);
        assert_eq!(stream.dropped, flood - 1000);
    }
    Ok(())
}

/// A core module whose `_start` is this.
fn core(body: &str) -> Result<Vec<u8>> {
    Ok(wat::parse_str(format!(
        r#"(module (memory (export "memory") 1) (func (export "_start") {body}))"#
    ))?)
}

/// A core module that exits with the number of its arguments.
fn core_exit() -> Result<Vec<u8>> {
    Ok(wat::parse_str(
        r#"(module
            (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start")
              (drop (call $sizes (i32.const 0) (i32.const 4)))
              (call $exit (i32.sub (i32.load (i32.const 0)) (i32.const 1)))))"#,
    )?)
}

/// A core module that never comes to its `_start`.
const STARTS: &str = r#"(module (memory (export "memory") 1)
    (func $for_ever (loop (br 0)))
    (start $for_ever)
    (func (export "_start")))"#;

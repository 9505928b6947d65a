//! WASI commands: whatever a program does, its adapter says exactly how it ended, and it
//! touched what was granted and nothing else.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_host::model::{Event, EventSink, LimitKind, TrapKind};
use prx_host::{Ending, RuntimeAdapter as _, RuntimeError, WasmAdapter};
use prx_tests::commands::{arguments, execution, printed, run, said};
use prx_tests::{Stage, process};
use tokio_util::sync::CancellationToken;

/// The guest that does what its first argument says.
const COMMAND: &str = "command";

fn stage() -> Result<Stage> {
    Stage::new()?.guests(&[COMMAND])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_codes_are_exact() -> Result<()> {
    let stage = stage()?.module("exit", &core_exit()?)?;
    let adapter = stage.wasm_adapter()?;
    for code in [0, 1, 3, 42, 125, 126, 127, 128, 255] {
        let text = code.to_string();
        let mut codes = Vec::new();
        codes.push(run(&adapter, COMMAND, &["exit", &text]).await?);
        // The core module exits with the number of its arguments.
        let many = vec!["x"; code];
        codes.push(run(&adapter, "exit", &many).await?);
        for output in codes {
            assert_eq!(output.exit_code, Some(i32::try_from(code)?));
            assert_eq!(output.ending, Ending::Exited);
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_knows_only_success_and_failure_has_0_or_1() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    for (told, code) in [("0", 0), ("1", 1), ("3", 1)] {
        let output = run(&adapter, COMMAND, &["return", told]).await?;
        assert_eq!(output.exit_code, Some(code));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_beyond_a_byte_are_cut_as_systems_do() -> Result<()> {
    let stage = stage()?.module("exit", &core_exit()?)?;
    let adapter = stage.wasm_adapter()?;
    let many = vec!["x"; 259];
    assert_eq!(run(&adapter, "exit", &many).await?.exit_code, Some(3));
    Ok(())
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_breaks_down_is_trapped_and_its_last_words_are_kept() -> Result<()> {
    let stage = stage()?.module(
        "divides",
        &core("(drop (i32.div_u (i32.const 1) (i32.const 0)))")?,
    )?;
    let adapter = stage.wasm_adapter()?;
    let output = run(&adapter, COMMAND, &["panic", "it"]).await?;
    assert_eq!(output.exit_code, None);
    let Ending::Trapped(trap) = &output.ending else {
        panic!("{:?}", output.ending);
    };
    assert_eq!(trap.kind, TrapKind::Unreachable);
    let words = output.stderr.last_words().unwrap_or_default();
    ensure!(words.contains(r#"nothing is left of ["it"]"#), "{words}");
    for (program, words, kind) in [
        (
            COMMAND,
            &["recurse", "2000000000"][..],
            TrapKind::StackOverflow,
        ),
        ("divides", &[], TrapKind::Fault),
    ] {
        let ending = run(&adapter, program, words).await?.ending;
        let Ending::Trapped(trap) = &ending else {
            panic!("{program}: {ending:?}");
        };
        assert_eq!(trap.kind, kind, "{program}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_ends_loops_sleeps_and_start_functions() -> Result<()> {
    let stage = stage()?
        .module("loops", &core("(loop (br 0))")?)?
        .module("starts", &wat::parse_str(STARTS)?)?;
    let adapter = stage.wasm_adapter()?;
    for (program, word) in [
        (COMMAND, "spin"),
        (COMMAND, "sleep"),
        ("loops", ""),
        ("starts", ""),
    ] {
        // Compiled before the clock runs.
        let short = Duration::from_millis(300);
        while let Err(RuntimeError::Unavailable { .. }) =
            ended_early(&adapter, program, "", short).await
        {}
        let output = ended_early(&adapter, program, word, short).await?;
        assert_eq!(output.ending, Ending::TimedOut, "{program} {word}");
        assert_eq!(output.exit_code, None);
        if word == "sleep" {
            assert_eq!(output.stderr.text(), "asleep\n");
        }
    }
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    Ok(())
}

async fn ended_early(
    adapter: &WasmAdapter,
    program: &str,
    word: &str,
    timeout: Duration,
) -> Result<prx_host::ExecutionOutput, RuntimeError> {
    let args = arguments(&[word]);
    let mut execution = execution(program, &args);
    execution.timeout = timeout;
    adapter.run(execution).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_ends_a_program_and_keeps_what_it_said() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    let cancel = CancellationToken::new();
    let args = arguments(&["sleep"]);
    let mut execution = execution(COMMAND, &args);
    execution.cancel = Some(&cancel);
    let canceller = cancel.clone();
    let heard: EventSink = Arc::new(move |event: Event<'_>| {
        if matches!(event, Event::Stderr(b"asleep\n")) {
            canceller.cancel();
        }
    });
    execution.events = Some(heard);
    let output = adapter.run(execution).await?;
    assert_eq!(output.ending, Ending::Cancelled);
    assert_eq!(output.stderr.text(), "asleep\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_tables_and_instances_are_limited_in_core_modules_too() -> Result<()> {
    let table = r#"(module (memory (export "memory") 1) (table 1 funcref)
        (func (export "_start")
          (if (i32.eq (table.grow (ref.null func) (i32.const 10000000)) (i32.const -1))
            (then unreachable))))"#;
    let at_start = r#"(module (memory (export "memory") 1000) (func (export "_start")))"#;
    let stage = stage()?
        .wasm("max_memory_mb = 16")
        .module(
            "grows",
            &core(
                "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable))",
            )?,
        )?
        .module("large", &wat::parse_str(at_start)?)?
        .module("table", &wat::parse_str(table)?)?;
    let adapter = stage.wasm_adapter()?;
    for (program, words) in [
        ("grows", &[][..]),
        ("large", &[]),
        (COMMAND, &["grow", "64"]),
    ] {
        let ending = run(&adapter, program, words).await?.ending;
        assert_eq!(ending, Ending::OutOfMemory { limit: 16 << 20 }, "{program}");
    }
    let ending = run(&adapter, "table", &[]).await?.ending;
    let is_limit = matches!(
        ending,
        Ending::LimitReached {
            kind: LimitKind::TableElements,
            ..
        }
    );
    ensure!(is_limit, "{ending:?}");
    // A run may have more than the adapter gives.
    let args = arguments(&["grow", "64"]);
    let mut execution = execution(COMMAND, &args);
    execution.max_memory = Some(256 << 20);
    assert_eq!(
        said(COMMAND, &adapter.run(execution).await?)?,
        format!("{}\n", 64 << 20)
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_those_of_granted_folders_and_no_others() -> Result<()> {
    let stage = stage()?
        .runtime(r#"workspace = "work""#)
        .capabilities("filesystem_read = [\"/workspace\"]\nfilesystem_write = [\"./out::/out\"]");
    let (work, _out) = (stage.folder("work")?, stage.folder("out")?);
    fs::write(work.join("seen"), "in the workspace")?;
    fs::write(stage.path("secret"), "hidden")?;
    std::os::unix::fs::symlink("../secret", work.join("link"))?;
    let adapter = stage.wasm_adapter()?;
    let secret = stage.path("secret");
    let says = async |words: &[&str]| printed(&adapter, COMMAND, words).await;
    assert_eq!(
        says(&["read", "/workspace/seen"]).await?,
        "in the workspace\n"
    );
    assert_eq!(
        says(&["write", "/out/made", "by a guest"]).await?,
        "written\n"
    );
    assert_eq!(fs::read_to_string(stage.path("out/made"))?, "by a guest");
    assert_eq!(says(&["read", "/out/made"]).await?, "by a guest\n");
    for path in [
        "/workspace/link",
        "/workspace/../secret",
        "../secret",
        "/secret",
        "/etc/passwd",
        secret.to_str().unwrap_or_default(),
    ] {
        let heard = says(&["read", path]).await?;
        ensure!(heard.starts_with("error: "), "{path}: {heard}");
    }
    let heard = says(&["write", "/workspace/new", "x"]).await?;
    ensure!(
        heard.starts_with("error: ") && !work.join("new").exists(),
        "{heard}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_granted_where_nothing_is_configured() -> Result<()> {
    let stage = stage()?;
    fs::write(stage.path("secret"), "hidden")?;
    let adapter = stage.wasm_adapter()?;
    for words in [
        &["read", "secret"][..],
        &["read", "/workspace/secret"],
        &["write", "x", "y"],
        &["connect", "127.0.0.1:1"],
    ] {
        let heard = printed(&adapter, COMMAND, words).await?;
        ensure!(heard.starts_with("error: "), "{words:?}: {heard}");
    }
    assert_eq!(printed(&adapter, COMMAND, &["variables"]).await?, "[]\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_begins_in_the_working_folder_if_that_is_granted() -> Result<()> {
    let stage = stage()?
        .runtime(r#"workspace = "work""#)
        .capabilities(r#"filesystem_read = ["/workspace"]"#);
    let inner = stage.folder("work/inner")?;
    fs::write(stage.path("work/file"), "outer")?;
    fs::write(inner.join("file"), "inner")?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(
        printed(&adapter, COMMAND, &["read", "file"]).await?,
        "outer\n"
    );
    assert_eq!(
        printed(&adapter, COMMAND, &["folder"]).await?,
        "/workspace\n"
    );
    let args = [arguments(&["read", "file"]), arguments(&["folder"])];
    for (args, expected) in args.iter().zip(["inner\n", "/workspace/inner\n"]) {
        let mut execution = execution(COMMAND, args);
        execution.working_dir = Some(&inner);
        assert_eq!(said(COMMAND, &adapter.run(execution).await?)?, expected);
    }
    for folder in [stage.root(), &stage.path("none"), &stage.path("work/file")] {
        let mut execution = execution(COMMAND, &args[0]);
        execution.working_dir = Some(folder);
        let refused = adapter.run(execution).await;
        let is_refused =
            matches!(&refused, Err(RuntimeError::WorkingDirectory { path, .. }) if path == folder);
        ensure!(is_refused, "{}: {refused:?}", folder.display());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_folder_that_is_gone_is_named_with_its_key() -> Result<()> {
    let stage = stage()?.capabilities(r#"filesystem_read = ["./docs::/docs"]"#);
    let docs = stage.folder("docs")?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    fs::remove_dir(&docs)?;
    let refused = run(&adapter, COMMAND, &[]).await;
    let Err(RuntimeError::Folder {
        path, granted_by, ..
    }) = &refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!(path, &docs);
    ensure!(granted_by.contains("filesystem_read"), "{granted_by}");
    fs::create_dir(&docs)?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_runs_at_once_leave_nothing_behind() -> Result<()> {
    if !process::is_alone(&two_hundred_runs_at_once_leave_nothing_behind)? {
        return Ok(());
    }
    let stage = stage()?;
    let adapter = Arc::new(stage.wasm_adapter()?);
    let all_at_once = async || -> Result<()> {
        let mut runs = tokio::task::JoinSet::new();
        for number in 0..200 {
            let adapter = Arc::clone(&adapter);
            runs.spawn(async move {
                let code = number % 256;
                let output = run(&*adapter, COMMAND, &["exit", &code.to_string()]).await;
                output.map(|output| (code, output.exit_code))
            });
        }
        while let Some(ran) = runs.join_next().await {
            let (code, exit_code) = ran??;
            assert_eq!(exit_code, Some(code));
        }
        Ok(())
    };
    all_at_once().await?;
    let before = process::Held::now()?;
    for _ in 0..5 {
        all_at_once().await?;
    }
    process::Held::assert_not_grown(before)
}

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

//! How programs end: by themselves, by breaking down, or by a limit.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_host::model::{Event, EventSink, LimitKind, TrapKind};
use prx_host::{Ending, RuntimeAdapter as _, RuntimeError, WasmAdapter};
use prx_tests::commands::{arguments, execution, printed, run, said};
use prx_tests::{Stage, process};
use tokio_util::sync::CancellationToken;

use super::{COMMAND, STARTS, core, core_exit, stage};

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
    // Compiled before the clock runs.
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    for (program, word) in [
        (COMMAND, "spin"),
        (COMMAND, "sleep"),
        ("loops", ""),
        ("starts", ""),
    ] {
        let short = Duration::from_millis(300);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_passes_while_a_module_is_compiled_is_one() -> Result<()> {
    // So much code that no machine compiles it within the deadline.
    let code = "(drop (i32.popcnt (i32.const 1)))".repeat(200_000);
    let stage = Stage::new()?.module("large", &core(&code)?)?;
    let adapter = stage.wasm_adapter()?;
    let output = ended_early(&adapter, "large", "", Duration::from_millis(1)).await?;
    assert_eq!(output.ending, Ending::TimedOut);
    assert_eq!(output.exit_code, None);
    // It is compiled all the same, and the next one finds it.
    assert_eq!(run(&adapter, "large", &[]).await?.exit_code, Some(0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_has_passed_lets_nothing_begin() -> Result<()> {
    let stage = stage()?;
    let adapter = stage.wasm_adapter()?;
    assert_eq!(printed(&adapter, COMMAND, &[]).await?, "1\n");
    let output = ended_early(&adapter, COMMAND, "", Duration::ZERO).await?;
    assert_eq!(output.ending, Ending::TimedOut);
    assert!(output.stdout.bytes.is_empty());
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

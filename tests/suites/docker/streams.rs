//! What goes in and comes out: to the last byte, in any amount, as it comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use prx_host::model::Event;
use prx_host::{Ending, Execution, Program, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::{LONG, Yard, printed};

#[tokio::test]
async fn arguments_arrive_as_they_are() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let args = ["[%s]", "a  b", "\"'\n$HOME `x` \\", "", "-n", "é"].map(str::to_owned);
    let none = HashMap::new();
    let output = adapter.execute("printf", &args, &none, None, LONG).await?;
    assert_eq!(printed(&output)?, "[a  b][\"'\n$HOME `x` \\][][-n][é]");
    Ok(())
}

#[tokio::test]
async fn standard_input_is_given_and_ends() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut execution = Execution::new(Program::Shell("cat"), &none, LONG);
    execution.stdin = Some(&bytes);
    execution.max_output = Some(1 << 23);
    let output = adapter.run(execution).await?;
    ensure!(
        output.stdout.bytes == bytes,
        "{} bytes",
        output.stdout.bytes.len()
    );

    let mut unread = Execution::new(Program::Shell("echo done"), &none, LONG);
    unread.stdin = Some(&bytes);
    assert_eq!(printed(&adapter.run(unread).await?)?, "done\n");

    let mut late = Execution::new(Program::Shell("exec >&- 2>&-; cat > copy"), &none, LONG);
    late.stdin = Some(&bytes);
    assert!(adapter.run(late).await?.is_success());
    ensure!(std::fs::read(yard.workspace().join("copy"))? == bytes);
    Ok(())
}

#[tokio::test]
async fn without_standard_input_there_is_its_end() -> Result<()> {
    let yard = Yard::new()?;
    assert_eq!(printed(&yard.shell("cat; echo end").await?)?, "end\n");
    Ok(())
}

#[tokio::test]
async fn a_command_that_closes_its_output_is_still_waited_for() -> Result<()> {
    let yard = Yard::new()?;
    let line = "exec >&- 2>&-; sleep 0.3; echo x > late; exit 7";
    let output = yard.shell(line).await?;
    assert_eq!(output.exit_code, Some(7));
    assert!(yard.workspace().join("late").exists());
    Ok(())
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipes_open_ends_with_the_command() -> Result<()> {
    let yard = Yard::new()?;
    let output = yard
        .shell("(setsid sleep 1000 &) ; sleep 1000 & echo answered")
        .await?;
    assert_eq!(printed(&output)?, "answered\n");
    yard.emptied().await
}

#[tokio::test]
async fn the_last_bytes_before_the_end_are_never_lost() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let line = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; printf last";
    for _ in 0..8 {
        let execution = Execution::new(Program::Shell(line), &none, LONG);
        let output = adapter.run(execution).await?;
        assert!(printed(&output)?.ends_with("line 1999\nlast"));
    }
    Ok(())
}

#[tokio::test]
async fn output_is_heard_as_it_comes() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let heard = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let listening = heard.clone();
    let mut execution = Execution::new(
        Program::Shell("printf out; printf '\\377' >&2"),
        &none,
        LONG,
    );
    execution.events = Some(Arc::new(move |event| {
        let mut heard = listening.lock().expect("nobody panics");
        match event {
            Event::Stdout(bytes) => heard.0.extend_from_slice(bytes),
            Event::Stderr(bytes) => heard.1.extend_from_slice(bytes),
            _ => {}
        }
    }));
    let output = adapter.run(execution).await?;
    assert_eq!(output.stderr.bytes, [0xff]);
    let heard = heard.lock().expect("nobody panics");
    assert_eq!(heard.0, b"out");
    assert_eq!(heard.1, [0xff]);
    Ok(())
}

#[tokio::test]
async fn exit_codes_are_the_commands_own() -> Result<()> {
    let yard = Yard::new()?;
    for code in [0, 1, 42, 125, 126, 127, 255] {
        let output = yard.shell(&format!("exit {code}")).await?;
        assert_eq!(output.exit_code, Some(code));
        assert_eq!(output.ending, Ending::Exited);
    }
    yard.emptied().await
}

#[tokio::test]
async fn a_program_that_is_missing_or_not_executable_is_an_error() -> Result<()> {
    let yard = Yard::new()?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let args = ["x".to_owned()];
    let run = |program| adapter.execute(program, &args, &none, None, LONG);
    for missing in ["no-such-program", "/no/such/program", "./no-such-program"] {
        let error = run(missing).await.expect_err(missing);
        ensure!(
            matches!(error, RuntimeError::CommandNotFound { .. }),
            "{error:?}"
        );
        assert!(error.help().is_some());
    }
    for refused in ["/etc/not-executable", "/etc"] {
        let error = run(refused).await.expect_err(refused);
        ensure!(
            matches!(error, RuntimeError::NotExecutable { .. }),
            "{error:?}"
        );
    }
    yard.emptied().await
}

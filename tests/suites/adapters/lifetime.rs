//! What is left of commands: after many calls, and after the death of the host.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Result, ensure};
use prx_host::Ending;
use prx_tests::process::{self, Held};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Behaviour, Fixture, LONG, STAGES, Stage};
use crate::native::{Native, marked};
use crate::wasm::Wasm;

/// Children of this process, dead or alive.
fn children() -> Result<usize> {
    let own = std::process::id().to_string();
    let mut count = 0;
    for entry in fs::read_dir("/proc")? {
        let Ok(stat) = fs::read_to_string(entry?.path().join("stat")) else {
            continue;
        };
        let Some((_, fields)) = stat.rsplit_once(") ") else {
            continue;
        };
        if fields.split(' ').nth(1) == Some(own.as_str()) {
            count += 1;
        }
    }
    Ok(count)
}

async fn many<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::Echo)?;
    let env = HashMap::new();
    let call = async || {
        let mut execution = command.execution(&env);
        execution.stdin = Some(b"input");
        let output = stage.adapter.run(execution).await?;
        ensure!(output.stdout.bytes == b"input", "{output:?}");
        Ok(())
    };
    call().await?;
    while children()? > 0 {
        tokio::task::yield_now().await;
    }
    let before = Held::now()?;
    for _ in 0..fixture.differences().many {
        call().await?;
    }
    // A sandbox takes its namespaces down after the answer.
    let deadline = Instant::now() + LONG;
    while children()? > 0 {
        ensure!(
            Instant::now() < deadline,
            "{} children are left",
            children()?
        );
        tokio::task::yield_now().await;
    }
    Held::assert_not_grown(before)?;
    Ok(())
}

#[tokio::test]
async fn a_thousand_calls_of_a_module_leave_nothing() -> Result<()> {
    if !process::is_alone(&a_thousand_calls_of_a_module_leave_nothing)? {
        return Ok(());
    }
    many(&Wasm).await
}

#[tokio::test]
async fn a_thousand_calls_without_a_sandbox_leave_nothing() -> Result<()> {
    if !process::is_alone(&a_thousand_calls_without_a_sandbox_leave_nothing)? {
        return Ok(());
    }
    many(&Native::new("none")).await
}

#[tokio::test]
async fn a_thousand_calls_in_bubblewrap_leave_nothing() -> Result<()> {
    if !process::is_alone(&a_thousand_calls_in_bubblewrap_leave_nothing)? {
        return Ok(());
    }
    many(&Native::new("bubblewrap")).await
}

#[tokio::test]
async fn a_thousand_calls_in_landlock_leave_nothing() -> Result<()> {
    if !process::is_alone(&a_thousand_calls_in_landlock_leave_nothing)? {
        return Ok(());
    }
    many(&Native::new("landlock")).await
}

/// In a process of its own: runs a command that lasts until somebody kills this process.
#[tokio::test]
#[ignore = "started by `commands_die_with_their_host`"]
async fn a_host_that_is_killed() -> Result<()> {
    let (Ok(sandbox), Ok(marker)) = (std::env::var(SANDBOX), std::env::var(MARKER)) else {
        return Ok(());
    };
    let sandbox = ALL.iter().find(|name| **name == sandbox);
    let fixture = Native::new(sandbox.expect("a sandbox that is known"));
    let stage = Stage::plain(&fixture).await?;
    let command = fixture.command(&Behaviour::LeaveAndStay { marker: &marker })?;
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.timeout = LONG * 10;
    execution.events = Some(std::sync::Arc::new(|_| println!("{BEGUN}")));
    stage.adapter.run(execution).await?;
    Ok(())
}

const SANDBOX: &str = "PRX_TEST_SANDBOX";
const MARKER: &str = "PRX_TEST_MARKER";
const BEGUN: &str = "the command has begun";
const ALL: [&str; 4] = ["none", "bubblewrap", "landlock", "firejail"];

#[test]
fn commands_die_with_their_host() -> Result<()> {
    let stages = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    for sandbox in ALL {
        let marker = crate::fixture::marker();
        let mut host = std::process::Command::new(std::env::current_exe()?)
            .args([
                "lifetime::a_host_that_is_killed",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(SANDBOX, sandbox)
            .env(MARKER, &marker)
            .env(STAGES, stages.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        let mut stdout = host.stdout.take().expect("it is piped");
        let mut chunk = [0; 256];
        while !said.contains(BEGUN) {
            let count = stdout.read(&mut chunk)?;
            ensure!(count > 0, "{sandbox}: it ended early: {said}");
            said.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
        assert!(!marked(&marker)?.is_empty(), "{sandbox}");
        host.kill()?;
        host.wait()?;
        // Without a PID namespace only the command itself is bound to the host, and a child
        // of it is on its own.
        let left = usize::from(matches!(sandbox, "none" | "landlock"));
        let deadline = Instant::now() + LONG / 2;
        while marked(&marker)?.len() > left {
            ensure!(
                Instant::now() < deadline,
                "{sandbox}: {:?}",
                marked(&marker)?
            );
            std::thread::yield_now();
        }
        Native::new(sandbox).end(&marker)?;
    }
    Ok(())
}

#[tokio::test]
async fn a_command_whose_sandbox_is_killed_is_said_to_be_killed() -> Result<()> {
    for sandbox in ["bubblewrap", "firejail"] {
        let fixture = Native::new(sandbox);
        let stage = Stage::plain(&fixture).await?;
        let marker = crate::fixture::marker();
        let command = fixture.command(&Behaviour::Sleep { marker: &marker })?;
        let begun = std::sync::Arc::new(tokio::sync::Notify::new());
        let heard = std::sync::Arc::clone(&begun);
        let env = HashMap::new();
        let mut execution = command.execution(&env);
        execution.events = Some(std::sync::Arc::new(move |_| heard.notify_one()));
        let kill = async {
            begun.notified().await;
            for (pid, _) in marked(&marker)? {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
                let fields = stat.rsplit_once(") ").map(|(_, fields)| fields.split(' '));
                let parent = fields.and_then(|mut fields| fields.nth(1)?.parse().ok());
                let warden = parent.and_then(Pid::from_raw);
                kill_process(warden.expect("it has a parent"), Signal::KILL)?;
            }
            anyhow::Ok(())
        };
        let (output, killed) = tokio::join!(stage.adapter.run(execution), kill);
        killed?;
        let output = output?;
        assert_eq!(output.ending, Ending::Signalled { signal: 9 }, "{sandbox}");
        assert_eq!(output.stdout.text(), "begun\n");
        crate::cases::children::vanished(&fixture, &marker).await?;
    }
    Ok(())
}

//! The rlimits of `[security.resources]`, and the memory of one call.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use prx_host::{Ending, ExecutionOutput};

use crate::fixture::{Command, LONG, Setup, Stage};
use crate::native::{Native, PLAYER};

const ALL: [&str; 4] = ["none", "bubblewrap", "landlock", "firejail"];

async fn play(stage: &Stage, args: &[&str], memory: Option<u64>) -> Result<ExecutionOutput> {
    let command = Command {
        program: PLAYER.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.max_memory = memory;
    Ok(stage.adapter.run(execution).await?)
}

#[tokio::test]
async fn a_command_gets_no_more_memory_than_it_may_have() -> Result<()> {
    let setup = Setup {
        tables: "[security.resources]\nmax_memory_mb = 64\n",
        ..Setup::default()
    };
    let (much, little) = ((100 << 20).to_string(), (30 << 20).to_string());
    for sandbox in ALL {
        let stage = Stage::new(&Native::new(sandbox), &setup).await?;
        let output = play(&stage, &["allocate", &little], None).await?;
        assert_eq!(output.stdout.text(), little, "{sandbox}: {output:?}");
        let output = play(&stage, &["allocate", &much], None).await?;
        assert_eq!(output.stderr.text(), "no memory", "{sandbox}: {output:?}");
        // A call may have a limit of its own.
        let output = play(&stage, &["allocate", &much], Some(200 << 20)).await?;
        assert_eq!(output.stdout.text(), much, "{sandbox}: {output:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_command_gets_no_more_processor_time_than_it_may_have() -> Result<()> {
    let setup = Setup {
        tables: "[security.resources]\nmax_cpu_time_seconds = 1\n",
        ..Setup::default()
    };
    for sandbox in ALL {
        let stage = Stage::new(&Native::new(sandbox), &setup).await?;
        let output = play(&stage, &["spin"], None).await?;
        let limit = Duration::from_secs(1);
        assert_eq!(output.ending, Ending::OutOfCpuTime { limit }, "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn a_command_that_ignores_its_signal_is_said_to_be_out_of_processor_time_too() -> Result<()> {
    let setup = Setup {
        tables: "[security.resources]\nmax_cpu_time_seconds = 1\n",
        ..Setup::default()
    };
    for sandbox in ALL {
        let stage = Stage::new(&Native::new(sandbox), &setup).await?;
        let env = HashMap::new();
        let run = |line| stage.adapter.execute(line, &[], &env, None, LONG);
        let output = run("trap '' XCPU; while :; do :; done").await?;
        let limit = Duration::from_secs(1);
        assert_eq!(output.ending, Ending::OutOfCpuTime { limit }, "{sandbox}");
        let output = run("kill -KILL $$").await?;
        assert_eq!(output.ending, Ending::Signalled { signal: 9 }, "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn a_command_gets_no_more_open_files_than_it_may_have() -> Result<()> {
    let setup = Setup {
        tables: "[security.resources]\nmax_open_files = 17\n",
        ..Setup::default()
    };
    for sandbox in ALL {
        let stage = Stage::new(&Native::new(sandbox), &setup).await?;
        let line = "ulimit -n; ulimit -Hn; ulimit -c";
        let output = stage
            .adapter
            .execute(line, &[], &HashMap::new(), None, LONG)
            .await?;
        assert_eq!(output.stdout.text(), "17\n17\n0\n", "{sandbox}");
    }
    Ok(())
}

#[tokio::test]
async fn the_number_of_processes_is_set_where_it_is_the_sandboxes_own() -> Result<()> {
    let setup = Setup {
        tables: "[security.resources]\nmax_subprocesses = 5\n",
        ..Setup::default()
    };
    let stage = Stage::new(&Native::new("bubblewrap"), &setup).await?;
    let line = "ulimit -u";
    let output = stage
        .adapter
        .execute(line, &[], &HashMap::new(), None, LONG)
        .await?;
    // The shell and the warden are no subprocesses.
    assert_eq!(output.stdout.text(), "7\n");
    let output = play(&stage, &["start", "20"], None).await?;
    let started: u32 = output.stdout.text().parse()?;
    // The kernel exempts the superuser, and nobody else.
    let expected = if rustix::process::geteuid().is_root() {
        20
    } else {
        5
    };
    assert_eq!(started, expected, "{output:?}");
    Ok(())
}

//! How a command ends, and what is said when it never began.

use std::collections::HashMap;
use std::fs;

use anyhow::Result;
use prx_host::{Ending, RuntimeError};

use super::play;
use crate::fixture::{Behaviour, Breakdown, Fixture, Stage};

pub async fn exit_codes_arrive<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    for code in [0, 1, 7, 255] {
        let output = play(fixture, &stage, Behaviour::Exit(code)).await?;
        assert_eq!(
            (output.exit_code, output.ending),
            (Some(code), Ending::Exited)
        );
    }
    Ok(())
}

pub async fn codes_that_look_like_signals_are_codes<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    for code in [126, 127, 128 + 6, 128 + 9, 128 + 15] {
        let output = play(fixture, &stage, Behaviour::Exit(code)).await?;
        assert_eq!(
            (output.exit_code, output.ending),
            (Some(code), Ending::Exited)
        );
    }
    Ok(())
}

pub async fn a_breakdown_is_told_from_an_exit<F: Fixture>(fixture: &F) -> Result<()> {
    const SIGABRT: i32 = 6;
    let stage = Stage::plain(fixture).await?;
    let output = play(fixture, &stage, Behaviour::Abort).await?;
    let code = output.exit_code;
    match fixture.differences().breakdown {
        Breakdown::Signal => {
            let ending = Ending::Signalled { signal: SIGABRT };
            assert_eq!((code, output.ending), (None, ending));
        }
        Breakdown::Trap => {
            let trapped = matches!(output.ending, Ending::Trapped(_));
            assert!(code.is_none() && trapped, "{output:?}");
        }
        Breakdown::Code(told) => {
            assert_eq!((code, output.ending), (Some(told), Ending::Exited));
        }
    }
    Ok(())
}

pub async fn a_missing_command_is_said_to_be_missing<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let mut command = fixture.command(&Behaviour::Exit(0))?;
    for missing in [
        "no-such-command-here",
        "/no/such/command",
        "./no-such-command",
    ] {
        missing.clone_into(&mut command.program);
        let error = stage.adapter.run(command.execution(&HashMap::new())).await;
        let Err(error @ RuntimeError::CommandNotFound { .. }) = error else {
            panic!("{missing}: {error:?}");
        };
        assert!(
            error.to_string().contains(missing) && error.help().is_some(),
            "{error}"
        );
    }
    Ok(())
}

pub async fn a_file_that_must_not_be_run_is_refused<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    fs::write(stage.workspace.join("plain"), "no program")?;
    fs::create_dir(stage.workspace.join("folder"))?;
    let mut command = fixture.command(&Behaviour::Exit(0))?;
    for refused in ["./plain", "./folder"] {
        refused.clone_into(&mut command.program);
        let error = stage.adapter.run(command.execution(&HashMap::new())).await;
        assert!(
            matches!(error, Err(RuntimeError::NotExecutable { .. })),
            "{refused}: {error:?}"
        );
    }
    Ok(())
}

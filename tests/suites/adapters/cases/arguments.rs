//! What a command is given as arguments.

use std::collections::HashMap;

use anyhow::Result;
use prx_host::{Ending, Execution, Program, RuntimeError};

use super::{play, texts};
use crate::fixture::{Behaviour, Fixture, LONG, Stage};

pub async fn arguments_arrive_as_they_are<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let arguments = [
        "with spaces  and\ttabs",
        "\"double\" and 'single' \\ backslash",
        "two\nlines\r\n",
        "",
        "ünïcödé 漢字 🦀",
        "-leading",
        "--",
        "$HOME `id` $(id) ; | & > * ? ~ !",
        "",
    ];
    let output = play(fixture, &stage, Behaviour::PrintArguments(&arguments)).await?;
    assert_eq!(texts(&output.stdout.bytes), arguments);
    assert_eq!(output.exit_code, Some(0));
    Ok(())
}

pub async fn many_long_arguments_arrive<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let long = "x".repeat(10_000);
    let arguments = vec![long.as_str(); 50];
    let output = play(fixture, &stage, Behaviour::PrintArguments(&arguments)).await?;
    assert_eq!(texts(&output.stdout.bytes), arguments);
    Ok(())
}

pub async fn what_no_program_can_be_given_is_refused<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let nothing = HashMap::new();
    let mut command = fixture.command(&Behaviour::PrintArguments(&[]))?;
    command.args.push("a\0b".to_owned());
    let refused = stage.adapter.run(command.execution(&nothing)).await;
    assert!(
        matches!(refused, Err(RuntimeError::InvalidInput { .. })),
        "{refused:?}"
    );

    let command = fixture.command(&Behaviour::PrintVariables)?;
    for (name, value) in [("A=B", "c"), ("", "c"), ("A\0", "c"), ("A", "c\0")] {
        let env = HashMap::from([(name.to_owned(), value.to_owned())]);
        let refused = stage.adapter.run(command.execution(&env)).await;
        assert!(
            matches!(refused, Err(RuntimeError::InvalidInput { .. })),
            "{name:?}: {refused:?}"
        );
    }
    Ok(())
}

pub async fn a_command_without_arguments_is_a_line_for_the_shell<F: Fixture>(
    fixture: &F,
) -> Result<()> {
    if !fixture.differences().has_shell {
        return Ok(());
    }
    let stage = Stage::plain(fixture).await?;
    let line = "printf '%s|' one 'two three'; printf oops >&2; exit 3";
    let output = stage
        .adapter
        .execute(line, &[], &HashMap::new(), None, LONG)
        .await?;
    assert_eq!(output.stdout.bytes, b"one|two three|");
    assert_eq!(output.stderr.bytes, b"oops");
    assert_eq!((output.exit_code, output.ending), (Some(3), Ending::Exited));

    let missing = "no_such_command_here";
    let output = stage
        .adapter
        .execute(missing, &[], &HashMap::new(), None, LONG)
        .await?;
    assert_eq!(output.exit_code, Some(127), "{output:?}");
    Ok(())
}

pub async fn no_shell_reads_arguments<F: Fixture>(fixture: &F) -> Result<()> {
    if !fixture.differences().has_shell {
        return Ok(());
    }
    let stage = Stage::plain(fixture).await?;
    let args = ["%s".to_owned(), "$(echo no); $HOME".to_owned()];
    let nothing = HashMap::new();
    let program = Program::of("printf", &args);
    let output = stage
        .adapter
        .run(Execution::new(program, &nothing, LONG))
        .await?;
    assert_eq!(output.stdout.bytes, b"$(echo no); $HOME");
    Ok(())
}

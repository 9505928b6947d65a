//! Runs of commands, in one line each. For every adapter alike.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use prx_host::{Ending, Execution, ExecutionOutput, Program, RuntimeAdapter, RuntimeError};

/// Longer than any command of a test needs.
const LONG: Duration = Duration::from_mins(10);

/// The variables of a run that adds none.
fn none() -> &'static HashMap<String, String> {
    static NONE: std::sync::LazyLock<HashMap<String, String>> =
        std::sync::LazyLock::new(HashMap::new);
    &NONE
}

/// A run with these arguments and nothing else.
pub fn execution<'a>(program: &'a str, args: &'a [String]) -> Execution<'a> {
    Execution::new(Program::Direct { program, args }, none(), LONG)
}

/// Arguments as adapters take them.
pub fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Runs a command to whatever end.
pub async fn run(
    adapter: &dyn RuntimeAdapter,
    program: &str,
    words: &[&str],
) -> Result<ExecutionOutput, RuntimeError> {
    adapter.run(execution(program, &arguments(words))).await
}

/// Runs a command that must exit with 0, and gives what it printed.
pub async fn printed(
    adapter: &dyn RuntimeAdapter,
    program: &str,
    words: &[&str],
) -> Result<String> {
    said(program, &run(adapter, program, words).await?)
}

/// What a command printed that must have exited with 0.
pub fn said(program: &str, output: &ExecutionOutput) -> Result<String> {
    let is_good = output.ending == Ending::Exited && output.exit_code == Some(0);
    ensure!(
        is_good,
        "`{program}` ended with {:?}, {:?} and said {:?}",
        output.exit_code,
        output.ending,
        output.stderr.text()
    );
    String::from_utf8(output.stdout.bytes.clone()).context("the output is not UTF-8")
}

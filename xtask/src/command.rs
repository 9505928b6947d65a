//! Running other programs: every failure names the command line that failed, and
//! no child reads the terminal.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Runs a command, its output going where ours goes.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("could not start `{}`", line_of(command)))?;
    success(command, status, "")
}

/// Runs a command and gives its standard output; its errors go where ours go.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{}`", line_of(command)))?;
    success(command, output.status, "")?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed what is not UTF-8", line_of(command)))
}

/// Runs a command silently; what it said on standard error is part of the failure.
pub fn quietly(command: &mut Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{}`", line_of(command)))?;
    success(
        command,
        output.status,
        &String::from_utf8_lossy(&output.stderr),
    )
}

/// Runs a command silently and ends it when it takes longer than `limit`.
pub fn within(limit: Duration, command: &mut Command) -> Result<()> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{}`", line_of(command)))?;
    // The end of its standard error tells that it is gone, without polling.
    let mut stderr = child.stderr.take().context("standard error was piped")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        // What was read before an error is all that there is to tell.
        let _ = stderr.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let Ok(text) = receiver.recv_timeout(limit) else {
        child
            .kill()
            .with_context(|| format!("could not stop `{}`", line_of(command)))?;
        child.wait()?;
        bail!(
            "`{}` did not end within {} s",
            line_of(command),
            limit.as_secs()
        );
    };
    let status = child.wait()?;
    success(command, status, &text)
}

/// Whether a program can be started; its answer does not matter.
pub fn exists(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// The command as one could type it.
pub fn line_of(command: &Command) -> String {
    let mut program = command.get_program();
    if program == crate::workspace::cargo_program() {
        // Cargo names itself by its place in the toolchain; nobody types that.
        program = OsStr::new("cargo");
    }
    let words = std::iter::once(program).chain(command.get_args());
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn success(command: &Command, status: ExitStatus, stderr: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    let line = line_of(command);
    match stderr.trim() {
        "" => bail!("`{line}` failed ({status})"),
        said => bail!("`{line}` failed ({status}):\n{said}"),
    }
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_printed_as_a_shell_reads_it() {
        let mut command = Command::new("prx-host");
        command.args(["call", "notes", r#"{"text":"it's"}"#, "", "a=b"]);
        assert_eq!(
            line_of(&command),
            r#"prx-host call notes '{"text":"it'\''s"}' '' a=b"#
        );
    }

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error = quietly(Command::new("rustc").arg("--no-such-option"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`rustc --no-such-option` failed"),
            "{error}"
        );
        assert!(error.contains("no-such-option'"), "{error}");
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let error = run(&mut Command::new("prx-no-such-program"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "could not start `prx-no-such-program`");
        assert!(!exists("prx-no-such-program"));
        assert!(exists("rustc"));
    }

    #[test]
    #[cfg(unix)]
    fn a_command_that_never_ends_is_ended() {
        let error =
            within(Duration::from_millis(50), Command::new("sleep").arg("1000")).unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
    }
}

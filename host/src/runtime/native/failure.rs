//! From an error of the system to an error that says what to do.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::sandbox::Sandbox;
use crate::model::Shown as _;
use crate::runtime::RuntimeError;

/// The error for a command whose process could not be started.
pub(super) fn not_started(
    error: &io::Error,
    command: &str,
    file: &Path,
    sandbox: &Sandbox,
) -> RuntimeError {
    let is_of_the_file = [
        Errno::NOENT,
        Errno::ACCESS,
        Errno::NOEXEC,
        Errno::PERM,
        Errno::NOTDIR,
        Errno::LOOP,
        Errno::TXTBSY,
        Errno::TOOBIG,
    ];
    match error.raw_os_error() {
        Some(code) if is_of_the_file.contains(&Errno::from_raw_os_error(code)) => {
            not_run(code, command, file, sandbox)
        }
        _ => RuntimeError::Unavailable {
            backend: "native".to_owned(),
            reason: format!("no process can be started: {error}"),
            help: "see whether this machine is short of memory, processes or open files \
                   (`ulimit -a`)"
                .to_owned(),
        },
    }
}

/// The error for a file that the system would not run.
pub(super) fn not_run(code: i32, command: &str, file: &Path, sandbox: &Sandbox) -> RuntimeError {
    let command = command.to_owned();
    let place = file.shown();
    let reason = match Errno::from_raw_os_error(code) {
        Errno::NOENT | Errno::NOTDIR if !sandbox.shows(file) => {
            return RuntimeError::CommandNotFound {
                command,
                reason: format!("the sandbox `{}` does not show `{place}`", sandbox.name()),
                help: "name its folder in `security.sandbox.readonly_paths`".to_owned(),
            };
        }
        Errno::NOENT => {
            format!("`{place}` is there, but the interpreter or loader that it names is not")
        }
        Errno::ACCESS if !sandbox.shows(file) => format!(
            "the sandbox `{}` does not allow `{place}`; name its folder in \
             `security.sandbox.readonly_paths`",
            sandbox.name()
        ),
        Errno::NOEXEC => format!("`{place}` is no program for this machine"),
        Errno::TOOBIG => "its arguments and variables are too long for the system".to_owned(),
        _ => format!("`{place}`: {}", io::Error::from_raw_os_error(code)),
    };
    RuntimeError::NotExecutable {
        command,
        reason,
        help: None,
    }
}

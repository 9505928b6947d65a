//! What an engine says when something fails, as an error that says what to do.
//!
//! Invariant: nothing that a call brought along is repeated but the name of its program.

use std::io;

use bollard::errors::Error;

use super::engine::Kind;
use crate::runtime::RuntimeError;

/// The name of the backend.
pub(super) const DOCKER: &str = "docker";

/// What the engine said, in one line.
pub(super) fn said(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => one_line(message),
        Error::DockerStreamError { error } => one_line(error),
        Error::RequestTimeoutError => "it did not answer in time".to_owned(),
        other => {
            // The innermost cause says most: "connection refused", "broken pipe".
            let mut innermost: &dyn std::error::Error = other;
            while let Some(source) = innermost.source() {
                innermost = source;
            }
            one_line(&innermost.to_string())
        }
    }
}

/// The other end closed the connection without having read all that was sent.
pub(super) fn is_closed_unread(error: &Error) -> bool {
    matches!(error, Error::IOError { err } if err.kind() == io::ErrorKind::ConnectionReset)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The status of the engine's answer; `None`: it gave none.
pub(super) fn status(error: &Error) -> Option<u16> {
    match error {
        Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// The container, or the image, is not there.
pub(super) fn is_missing(error: &Error) -> bool {
    status(error) == Some(404)
}

/// Somebody else is removing the container already, or it does not run.
pub(super) fn is_settled(error: &Error) -> bool {
    match error {
        Error::DockerResponseServerError {
            status_code,
            message,
        } => {
            // Podman 4 says it as an error of its own.
            *status_code == 409 || message.contains("can only kill running containers")
        }
        _ => false,
    }
}

/// The engine can not be used.
pub(super) fn unavailable(reason: impl Into<String>, help: impl Into<String>) -> RuntimeError {
    RuntimeError::Unavailable {
        backend: DOCKER.to_owned(),
        reason: reason.into(),
        help: help.into(),
    }
}

/// The engine went away, or failed, below a command.
pub(super) fn interrupted(kind: Kind, error: &Error) -> RuntimeError {
    if is_missing(error) {
        return broken_off(kind, "somebody else removed the container");
    }
    broken_off(kind, &said(error))
}

/// A command whose end is not known.
pub(super) fn broken_off(kind: Kind, reason: &str) -> RuntimeError {
    RuntimeError::Interrupted {
        backend: DOCKER.to_owned(),
        reason: format!(
            "{reason}; {}, and see what the command did before it is run again",
            look_after(kind)
        ),
    }
}

/// What to do about an engine that fails.
pub(super) fn look_after(kind: Kind) -> String {
    format!("look after the engine: `{} info`", kind.program())
}

/// Why no container was made.
pub(super) fn not_created(kind: Kind, error: &Error) -> RuntimeError {
    let reason = said(error);
    let words = reason.to_ascii_lowercase();
    match status(error) {
        None => unavailable(
            format!("the engine does not answer: {reason}"),
            look_after(kind),
        ),
        Some(400) if words.contains("memory limit") => too_little_memory(&reason),
        Some(_) => unavailable(
            format!("it refused the container: {reason}"),
            format!("correct `[runtime.docker]`, or {}", look_after(kind)),
        ),
    }
}

fn too_little_memory(reason: &str) -> RuntimeError {
    RuntimeError::InvalidInput {
        what: "the limit of memory".to_owned(),
        reason: format!(
            "{reason}; raise it: `memory_limit` in `[runtime.docker]` or \
             `[security.sandbox.docker]`, or that of the call"
        ),
    }
}

/// Why nobody could listen to a container, which was not asked to start yet.
pub(super) fn not_attached(kind: Kind, error: &Error, command: &str, image: &str) -> RuntimeError {
    match status(error) {
        None => not_created(kind, error),
        Some(404) => unavailable(
            "somebody else removed the container before it started",
            "call it again",
        ),
        Some(_) => not_started(kind, error, command, image),
    }
}

/// Why a container did not start.
pub(super) fn not_started(kind: Kind, error: &Error, command: &str, image: &str) -> RuntimeError {
    let reason = said(error);
    let words = reason.to_ascii_lowercase();
    if status(error).is_none() {
        return interrupted(kind, error);
    }
    let of_program = words.contains("exec: ") && !words.contains("docker-init");
    if of_program && (words.contains("not found") || words.contains("no such file")) {
        return command_not_found(command, image);
    }
    if of_program && (words.contains("permission denied") || words.contains("is a directory")) {
        return not_executable(command, "permission denied");
    }
    if words.contains("memory limit") {
        return too_little_memory(&reason);
    }
    unavailable(
        format!("the container did not start: {reason}"),
        look_after(kind),
    )
}

fn command_not_found(command: &str, image: &str) -> RuntimeError {
    RuntimeError::CommandNotFound {
        command: command.to_owned(),
        reason: format!("the image `{image}` has no such program"),
        help: "name a program of the image (a script needs its interpreter there, too), or \
               name an image that has it: `image` of the tool, or `runtime.docker.image`"
            .to_owned(),
    }
}

fn not_executable(command: &str, reason: &str) -> RuntimeError {
    RuntimeError::NotExecutable {
        command: command.to_owned(),
        reason: reason.to_owned(),
        help: Some(
            "make it executable in the image (`chmod +x`), or start it by its interpreter".into(),
        ),
    }
}

/// Whether the init program of the container said, as all that was ever said there, that it
/// could not start the command. It does so on the command's standard error.
pub(super) fn not_begun(
    exit_code: i64,
    stderr: &[u8],
    command: &str,
    image: &str,
) -> Option<RuntimeError> {
    if !matches!(exit_code, 1 | 126 | 127) {
        return None;
    }
    let line = std::str::from_utf8(stderr).ok()?.strip_suffix('\n')?;
    let reason = of_tini(line, command).or_else(|| of_catatonit(line))?;
    match reason {
        "No such file or directory" => Some(command_not_found(command, image)),
        reason => Some(not_executable(command, reason)),
    }
}

/// `[FATAL tini (7)] exec <command> failed: <reason>`
fn of_tini<'a>(line: &'a str, command: &str) -> Option<&'a str> {
    let (_, rest) = line.strip_prefix("[FATAL tini (")?.split_once(")] exec ")?;
    let reason = rest.strip_prefix(command)?.strip_prefix(" failed: ")?;
    (!reason.contains('\n')).then_some(reason)
}

/// `ERROR (catatonit:2): failed to exec pid1: <reason>`
fn of_catatonit(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("ERROR (catatonit:")?.split_once("): ")?;
    let reason = rest.strip_prefix("failed to exec pid1: ")?;
    (!reason.contains('\n')).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status_code: u16, message: &str) -> Error {
        Error::DockerResponseServerError {
            status_code,
            message: message.to_owned(),
        }
    }

    #[test]
    fn what_init_says_of_a_command_that_did_not_begin_is_understood() {
        let begun = |stderr: &str| not_begun(127, stderr.as_bytes(), "lint", "box");
        for missing in [
            "[FATAL tini (8)] exec lint failed: No such file or directory\n",
            "ERROR (catatonit:2): failed to exec pid1: No such file or directory\n",
        ] {
            let error = begun(missing).expect("an error");
            assert!(
                matches!(error, RuntimeError::CommandNotFound { .. }),
                "{error}"
            );
        }
        let refused = begun("[FATAL tini (8)] exec lint failed: Permission denied\n");
        let Some(RuntimeError::NotExecutable {
            reason,
            help: Some(help),
            ..
        }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!(reason, "Permission denied");
        assert!(help.starts_with("make it executable"), "{help}");
    }

    #[test]
    fn a_command_that_says_something_of_its_own_has_begun() {
        for stderr in [
            "",
            "lint: not found\n",
            "[FATAL tini (8)] exec other failed: No such file or directory\n",
            "[FATAL tini (8)] exec lint failed: No such file or directory\nmore\n",
            "before\n[FATAL tini (8)] exec lint failed: No such file or directory\n",
        ] {
            assert_eq!(not_begun(127, stderr.as_bytes(), "lint", "box"), None);
        }
        let line = b"[FATAL tini (8)] exec lint failed: No such file or directory\n";
        assert_eq!(not_begun(0, line, "lint", "box"), None);
    }

    #[test]
    fn what_the_engine_says_of_a_program_is_understood() {
        let missing = answered(
            400,
            "failed to create shim task: OCI runtime create failed: runc create failed: unable \
             to start container process: exec: \"lint\": executable file not found in $PATH: unknown",
        );
        let error = not_started(Kind::Docker, &missing, "lint", "box");
        assert!(
            matches!(error, RuntimeError::CommandNotFound { .. }),
            "{error}"
        );
        let refused = answered(400, "exec: \"/etc\": permission denied: unknown");
        let error = not_started(Kind::Docker, &refused, "/etc", "box");
        assert!(
            matches!(error, RuntimeError::NotExecutable { .. }),
            "{error}"
        );
        let other = answered(500, "cgroups:\n  cannot find mount");
        let error = not_started(Kind::Podman, &other, "lint", "box").to_string();
        assert!(error.contains("cgroups: cannot find mount"), "{error}");
        let little = answered(
            500,
            "preparing container x for attach: runc: unable to set memory limit to 4096 (current \
             usage: 2646016, peak usage: 2772992): OCI runtime error",
        );
        let error = not_started(Kind::Podman, &little, "lint", "box").to_string();
        assert!(error.contains("raise it: `memory_limit`"), "{error}");
    }

    #[test]
    fn a_container_that_was_removed_by_others_is_said_to_be() {
        let missing = answered(404, "No such container: x");
        let error = interrupted(Kind::Podman, &missing).to_string();
        assert!(
            error.contains("somebody else removed the container"),
            "{error}"
        );
        assert!(error.contains("`podman info`"), "{error}");
    }

    #[test]
    fn a_connection_that_the_other_end_closed_unread_is_known() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(is_closed_unread(&reset.into()));
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(!is_closed_unread(&broken.into()));
        assert!(!is_closed_unread(&answered(500, "connection reset")));
    }

    #[test]
    fn what_needs_no_ending_any_more_is_understood() {
        let ended = "can only kill running containers. x is in state exited: container state \
                     improper";
        assert!(is_settled(&answered(500, ended)));
        assert!(is_settled(&answered(
            409,
            "removal of container x is already in progress"
        )));
        assert!(!is_settled(&answered(500, "database is locked")));
        assert!(!is_settled(&Error::RequestTimeoutError));
    }
}

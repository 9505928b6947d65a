//! From a command to a file and its arguments: the shell for a line, a search through
//! the command's own `PATH` for a name.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::environment::Variables;
use crate::model::Shown as _;
use crate::runtime::{Program, Result, RuntimeError};

/// Where a program is looked for when the command has no `PATH`.
pub(super) const STANDARD_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What to run, found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The absolute file.
    pub(super) file: PathBuf,
    /// `argv`, from the program's own name on.
    pub(super) argv: Vec<OsString>,
}

/// Finds a program. `folder` is where a relative path starts.
pub(super) fn find(
    program: &Program<'_>,
    shell: &Path,
    variables: &Variables,
    folder: &Path,
) -> Result<Found> {
    match *program {
        Program::Shell(line) => {
            check(line, || "the line for the shell".to_owned())?;
            let missing = || RuntimeError::CommandNotFound {
                command: shell.shown().to_string(),
                reason: "the shell does not exist".to_owned(),
                help: "set `runtime.native.shell` to a shell of this machine, for instance \
                       `\"/bin/sh\"`"
                    .to_owned(),
            };
            examine(shell, &shell.shown().to_string())?.ok_or_else(missing)?;
            Ok(Found {
                file: shell.to_owned(),
                argv: [shell.as_os_str(), OsStr::new("-c"), OsStr::new(line)]
                    .map(OsStr::to_owned)
                    .into(),
            })
        }
        Program::Direct { program, args } => {
            check(program, || "the command".to_owned())?;
            for (index, argument) in args.iter().enumerate() {
                check(argument, || format!("argument {}", index + 1))?;
            }
            let file = look_up(program, variables, folder)?;
            let argv = std::iter::once(program).chain(args.iter().map(String::as_str));
            Ok(Found {
                file,
                argv: argv.map(OsString::from).collect(),
            })
        }
    }
}

fn check(text: &str, what: impl FnOnce() -> String) -> Result<()> {
    if text.contains('\0') {
        return Err(RuntimeError::InvalidInput {
            what: what(),
            reason: "it contains a NUL character".to_owned(),
        });
    }
    Ok(())
}

/// The file of a program: a path is taken as it is, a name is searched for in `PATH`.
/// Entries of `PATH` that are empty or relative are passed over: what they name depends
/// on the folder a command happens to run in.
fn look_up(program: &str, variables: &Variables, folder: &Path) -> Result<PathBuf> {
    if program.contains('/') {
        let file = folder.join(program);
        let missing = || RuntimeError::CommandNotFound {
            command: program.to_owned(),
            reason: format!("`{}` does not exist", file.shown()),
            help: "correct the path of the command".to_owned(),
        };
        return examine(&file, program)?
            .map(|()| file.clone())
            .ok_or_else(missing);
    }
    let path = variables.get("PATH").unwrap_or(OsStr::new(STANDARD_PATH));
    let mut refused = None;
    if !program.is_empty() {
        for entry in std::env::split_paths(path).filter(|entry| entry.is_absolute()) {
            let file = entry.join(program);
            match examine(&file, program) {
                Ok(Some(())) => return Ok(file),
                Ok(None) => {}
                // As in a shell: something further on may still serve.
                Err(error) => refused = refused.or(Some(error)),
            }
        }
    }
    Err(refused.unwrap_or_else(|| RuntimeError::CommandNotFound {
        command: program.to_owned(),
        reason: format!("it is in no folder of `PATH`, which is `{}`", path.shown()),
        help: "install the program, give its full path, or set `PATH` in \
               `[runtime.native.env]`"
            .to_owned(),
    }))
}

/// Whether a file is there; an error when it is and can not be run.
fn examine(file: &Path, command: &str) -> Result<Option<()>> {
    let refuse = |reason: &str| {
        Err(RuntimeError::NotExecutable {
            command: command.to_owned(),
            reason: reason.to_owned(),
            help: None,
        })
    };
    let Ok(metadata) = fs::metadata(file) else {
        return Ok(None);
    };
    if metadata.is_dir() {
        return refuse("it is a folder");
    }
    if access(file, Access::EXEC_OK).is_err() {
        return refuse("permission denied: it is not marked as executable for this user");
    }
    Ok(Some(()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn with_path(path: &str) -> Variables {
        let own = HashMap::from([("PATH".to_owned(), path.to_owned())]);
        Variables::none().with(&own).unwrap()
    }

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let file = folder.join(name);
        fs::create_dir_all(folder).unwrap();
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_file_that_can_not_be_run_does_not_hide_one_that_can() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("a"), root.path().join("b"));
        program(&first, "tool", 0o644);
        let good = program(&second, "tool", 0o755);
        let both = with_path(&format!("{}:{}", first.display(), second.display()));
        assert_eq!(look_up("tool", &both, root.path()), Ok(good));
        let bad = with_path(&first.display().to_string());
        let refused = look_up("tool", &bad, root.path());
        assert!(matches!(refused, Err(RuntimeError::NotExecutable { .. })));
    }

    #[test]
    fn empty_and_relative_entries_of_the_path_are_passed_over() {
        let root = tempfile::tempdir().unwrap();
        program(root.path(), "tool", 0o755);
        for path in ["", ".", ":", "./", "relative"] {
            let missing = look_up("tool", &with_path(path), root.path());
            let is_missing = matches!(missing, Err(RuntimeError::CommandNotFound { .. }));
            assert!(is_missing, "{path:?}");
        }
    }

    #[test]
    fn a_path_with_a_slash_starts_in_the_working_folder() {
        let root = tempfile::tempdir().unwrap();
        let file = program(&root.path().join("inner"), "tool", 0o755);
        let nowhere = with_path("/nowhere");
        assert_eq!(look_up("inner/tool", &nowhere, root.path()), Ok(file));
        assert!(look_up("", &nowhere, root.path()).is_err());
    }
}

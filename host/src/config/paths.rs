//! How a path that a person wrote becomes an absolute one. Only looks at the text
//! and the environment, never at the file system.

use std::path::{Component, Path, PathBuf};

use super::Environment;

/// Why a text is no usable path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("it contains a NUL character")]
    Nul,
    #[error("the home folder is not known: `HOME` is not set")]
    NoHome,
    #[error("`~{0}` is not supported: only one's own home folder is, written `~`")]
    OtherHome(String),
    #[error("`${0}` is not set to an absolute path")]
    Unset(String),
    #[error("`${0}` does not expand: only `~` and variables that begin with `XDG_` do")]
    Variable(String),
}

impl PathError {
    /// What to do about it.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Empty => "write a path, for instance `\"~/skills\"`",
            Self::Nul => "write the path without `\\u0000`",
            Self::NoHome => "set `HOME`, or write an absolute path",
            Self::OtherHome(_) | Self::Variable(_) => "write the absolute path",
            Self::Unset(_) => "set the variable, or write the absolute path",
        }
    }
}

/// Whether a text starts in a fixed place: absolute, in the home folder or in an XDG one.
pub(super) fn is_anchored(text: &str) -> bool {
    text.starts_with(['/', '~', '$'])
}

/// Expands `~` and `$XDG_*` at the start of a path, and makes it absolute against
/// `folder`. Single dots go; `..` stays, since links decide what it means.
pub(super) fn expand(
    text: &str,
    folder: &Path,
    environment: &Environment,
) -> Result<PathBuf, PathError> {
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    if text.contains('\0') {
        return Err(PathError::Nul);
    }
    let (first, rest) = match text.split_once('/') {
        Some((first, rest)) => (first, rest.trim_start_matches('/')),
        None => (text, ""),
    };
    let path = if let Some(user) = first.strip_prefix('~') {
        if !user.is_empty() {
            return Err(PathError::OtherHome(user.to_owned()));
        }
        environment.home().ok_or(PathError::NoHome)?.join(rest)
    } else if let Some(variable) = first.strip_prefix('$') {
        let name = variable
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
            .unwrap_or(variable);
        if !name.starts_with("XDG_") {
            return Err(PathError::Variable(variable.to_owned()));
        }
        let base = environment.xdg(name);
        base.ok_or_else(|| PathError::Unset(variable.to_owned()))?
            .join(rest)
    } else {
        folder.join(text)
    };
    Ok(without_dots(&path))
}

/// The path without `.`, doubled and trailing slashes.
fn without_dots(path: &Path) -> PathBuf {
    let parts = path.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let environment = Environment::new("/srv/project")
            .with("HOME", "/home/ada")
            .with("XDG_STATE_HOME", "/var/state");
        expand(text, Path::new("/etc/openprx"), &environment)
            .map(|path| path.display().to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn home_and_xdg_folders_expand_at_the_start() {
        for (text, path) in [
            ("~", "/home/ada"),
            ("~/a/", "/home/ada/a"),
            ("$XDG_DATA_HOME/x", "/home/ada/.local/share/x"),
            ("$XDG_STATE_HOME", "/var/state"),
            ("${XDG_STATE_HOME}//x", "/var/state/x"),
            ("/a/~/$XDG_DATA_HOME", "/a/~/$XDG_DATA_HOME"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(path), "{text}");
        }
    }

    #[test]
    fn relative_paths_start_at_the_folder_given() {
        for (text, path) in [
            (".", "/etc/openprx"),
            ("./docs/./a", "/etc/openprx/docs/a"),
            ("../docs", "/etc/openprx/../docs"),
            ("/abs//x", "/abs/x"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(path), "{text}");
        }
    }

    #[test]
    fn texts_that_only_look_like_paths_are_refused() {
        for text in [
            "",
            "~bob/x",
            "$HOME/x",
            "$XDG_RUNTIME_DIR/x",
            "${XDG_DATA_HOME/x",
            "a\0b",
        ] {
            assert!(expanded(text).is_err(), "{text:?}");
        }
    }
}

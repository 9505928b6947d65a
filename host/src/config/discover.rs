//! Which `config.toml` is read. Never one of the current folder: a configuration can
//! run commands, and a host is often started inside a folder that someone else wrote.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::Shown as _;

use super::Environment;
use super::paths::{self, PathError};

/// The variable that names the configuration file.
pub const CONFIG_VARIABLE: &str = "PRX_HOST_CONFIG";

/// The outcome of looking for a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// The file to read, absolute; `None`: there is none, defaults serve.
    pub file: Option<PathBuf>,
    /// What named it.
    pub named_by: NamedBy,
}

/// What named a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// `--config`
    Flag,
    /// `$PRX_HOST_CONFIG`
    Variable,
    /// The standard place, `$XDG_CONFIG_HOME/openprx/config.toml`.
    Standard,
}

impl NamedBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "`--config`",
            Self::Variable => "`$PRX_HOST_CONFIG`",
            Self::Standard => "the standard place",
        }
    }
}

/// Why no configuration file could be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// A file named explicitly is not there.
    #[error("the configuration file `{}` does not exist ({} names it)", file.shown(), named_by.as_str())]
    Missing {
        /// The file.
        file: PathBuf,
        /// What named it.
        named_by: NamedBy,
    },
    /// A folder was named instead of a file.
    #[error("`{}` is a folder, not a configuration file ({} names it)", file.shown(), named_by.as_str())]
    Folder {
        /// The folder.
        file: PathBuf,
        /// What named it.
        named_by: NamedBy,
    },
    /// The file can not be looked at.
    #[error("the configuration file `{}` can not be read ({} names it)", file.shown(), named_by.as_str())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What named it.
        named_by: NamedBy,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The name given is no path.
    #[error("{} does not name a configuration file: {why}", named_by.as_str())]
    Unnamed {
        /// What named it.
        named_by: NamedBy,
        /// What is wrong with it.
        why: String,
    },
}

impl DiscoverError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "correct the path, or write a first file with `prx-host config init`"
            }
            Self::Folder { .. } => "name the file in it, usually `config.toml`",
            Self::Unreadable { .. } => "make the file readable for this account",
            Self::Unnamed { .. } => "give the absolute path of a `config.toml`",
        }
    }
}

/// Looks for the configuration file: `flag` (the argument of `--config`), then
/// `$PRX_HOST_CONFIG`, then [`standard_file`]. A file named by one of the first two must
/// exist; a missing standard file is no error.
pub fn discover(
    flag: Option<&Path>,
    environment: &Environment,
) -> Result<Discovered, DiscoverError> {
    if let Some(flag) = flag {
        return named(flag, NamedBy::Flag, environment);
    }
    if let Some(variable) = environment.filled_variable(CONFIG_VARIABLE) {
        return named(Path::new(variable), NamedBy::Variable, environment);
    }
    let named_by = NamedBy::Standard;
    let Some(file) = standard_file(environment) else {
        return Ok(Discovered {
            file: None,
            named_by,
        });
    };
    match looked_at(&file, named_by) {
        Ok(()) => Ok(Discovered {
            file: Some(file),
            named_by,
        }),
        Err(DiscoverError::Missing { .. }) => Ok(Discovered {
            file: None,
            named_by,
        }),
        Err(error) => Err(error),
    }
}

/// Where a configuration file stands when nobody says otherwise:
/// `$XDG_CONFIG_HOME/openprx/config.toml`. `None` when there is no home folder.
pub fn standard_file(environment: &Environment) -> Option<PathBuf> {
    let folder = environment.xdg("XDG_CONFIG_HOME")?;
    Some(folder.join("openprx").join("config.toml"))
}

fn named(
    path: &Path,
    named_by: NamedBy,
    environment: &Environment,
) -> Result<Discovered, DiscoverError> {
    // Clients that start the host without a shell pass `~` as it is.
    let file = match path.to_str() {
        Some(text) => paths::expand(text, environment.current_dir(), environment).map_err(
            |error: PathError| DiscoverError::Unnamed {
                named_by,
                why: error.to_string(),
            },
        )?,
        None => environment.current_dir().join(path),
    };
    looked_at(&file, named_by)?;
    Ok(Discovered {
        file: Some(file),
        named_by,
    })
}

fn looked_at(file: &Path, named_by: NamedBy) -> Result<(), DiscoverError> {
    let file = file.to_owned();
    match std::fs::metadata(&file) {
        Ok(found) if found.is_dir() => Err(DiscoverError::Folder { file, named_by }),
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Err(DiscoverError::Missing { file, named_by })
            }
            _ => Err(DiscoverError::Unreadable {
                file,
                named_by,
                source: error,
            }),
        },
    }
}

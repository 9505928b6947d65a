//! `prx-host config init`: writes a first configuration.
//!
//! Invariant: a file that exists is replaced only when asked for, and as a whole.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use prx_host::config::{CONFIG_VARIABLE, Config, Environment, standard_file, template};
use prx_host::model::Shown as _;
use serde_json::json;

use crate::cli::render::{Failure, Screen};
use crate::cli::{Exit, Global, start};

pub(super) fn run(
    path: Option<&Path>,
    force: bool,
    global: &Global,
    screen: Screen,
) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let file = chosen(path, global, &environment)?;
    write(&file, force)?;
    let folder = module_folder(&file, &environment);
    if screen.json() {
        let folder = folder.map(|folder| folder.display().to_string());
        screen.print_json(&json!({ "file": file.display().to_string(), "module_path": folder }))?;
        return Ok(Exit::Ok);
    }
    screen.print(&format!("wrote `{}`", file.shown()))?;
    if let Some(folder) = folder {
        screen.print(&format!("skills go into `{}`", folder.shown()))?;
    }
    Ok(Exit::Ok)
}

/// Makes the folder of modules that the file names, so that a first `check` finds nothing
/// missing. The configuration is written either way.
fn module_folder(file: &Path, environment: &Environment) -> Option<PathBuf> {
    let config = Config::load_file(file, environment).ok()?.config;
    let folder = config.runtime.wasm.module_path.value;
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Some(folder),
        Err(error) => {
            tracing::warn!(%error, folder = %folder.shown(), "the module folder can not be made");
            None
        }
    }
}

fn chosen(
    path: Option<&Path>,
    global: &Global,
    environment: &Environment,
) -> Result<PathBuf, Failure> {
    let variable = environment
        .variable(CONFIG_VARIABLE)
        .filter(|value| !value.is_empty());
    let named = path
        .or(global.config.as_deref())
        .or_else(|| variable.map(Path::new));
    match named {
        Some(named) => Ok(environment.current_dir().join(named)),
        None => standard_file(environment).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "there is no standard place for a configuration",
            )
            .cause("the home folder is not known")
            .help("name the file with `--path`")
        }),
    }
}

fn write(file: &Path, force: bool) -> Result<(), Failure> {
    // A link is kept, and what it leads to is replaced.
    let file = if force {
        file.canonicalize().unwrap_or_else(|_| file.to_owned())
    } else {
        file.to_owned()
    };
    let failed = |error: &std::io::Error| {
        let failure = Failure::new(
            Exit::Usage,
            format!("`{}` can not be written", file.shown()),
        );
        match error.kind() {
            ErrorKind::AlreadyExists => failure
                .cause("it exists already")
                .help("look at it with `prx-host config show`, or replace it with `--force`"),
            _ => failure
                .cause(error.to_string())
                .help("name another file with `--path`"),
        }
    };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let written = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .and_then(|()| {
            // Made for this account alone (mode 0600): configurations may hold secrets.
            let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
            temporary.write_all(template().as_bytes())?;
            temporary.as_file().sync_all()?;
            let kept = if force {
                temporary.persist(&file)
            } else {
                temporary.persist_noclobber(&file)
            };
            kept.map(drop).map_err(|error| error.error)
        });
    written.map_err(|error| failed(&error))
}

//! `prx-host config path`: which file is read, and why that one.
//!
//! Invariant: standard output has the path alone, for scripts.

use prx_host::config::{CONFIG_VARIABLE, NamedBy, standard_file};
use prx_host::model::Shown as _;
use serde_json::json;

use crate::cli::render::{Failure, Screen};
use crate::cli::{Exit, Global, start};

pub(super) fn run(global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let discovered = start::discover(global, &environment)?;
    let exists = discovered.file.is_some();
    let file = discovered.file.or_else(|| standard_file(&environment));
    if screen.json() {
        let named_by = match discovered.named_by {
            NamedBy::Flag => "flag",
            NamedBy::Variable => "variable",
            NamedBy::Standard => "standard",
        };
        let file = file.map(|file| file.display().to_string());
        screen.print_json(&json!({ "file": file, "exists": exists, "named_by": named_by }))?;
        return Ok(Exit::Ok);
    }
    let Some(file) = file else {
        return Err(Failure::new(
            Exit::Usage,
            "there is no standard place for a configuration",
        )
        .cause("the home folder is not known")
        .help("set `HOME`, or name a file with `--config`"));
    };
    // For `$(…)` it is the path itself.
    let path = if screen.out_is_terminal() {
        file.shown().to_string()
    } else {
        file.display().to_string()
    };
    screen.print(&path)?;
    if global.quiet == 0 {
        screen.note(&match (discovered.named_by, exists) {
            (NamedBy::Flag, _) => "named by `--config`".into(),
            (NamedBy::Variable, _) => format!("named by `${CONFIG_VARIABLE}`"),
            (NamedBy::Standard, true) => "the standard place".into(),
            (NamedBy::Standard, false) => {
                "the standard place; the file does not exist, so all defaults are in force \
                 (`prx-host config init` writes a first one)"
                    .into()
            }
        });
    }
    Ok(Exit::Ok)
}

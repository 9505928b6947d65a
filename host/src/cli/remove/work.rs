//! The steps of a removal: find, show, ask, remove.

use std::fmt::Write as _;
use std::path::Path;

use prx_host::config::Config;
use prx_host::install::{NamedBy, Removal, RemoveError, find_removal};
use prx_host::model::Shown as _;
use serde_json::{Value, json};

use super::Arguments;
use crate::cli::list::open;
use crate::cli::render::{Failure, Screen, Tone};
use crate::cli::{Exit, consent, facts};

/// Removes a module.
pub async fn remove(
    arguments: &Arguments,
    config: Config,
    screen: Screen,
) -> Result<Exit, Failure> {
    let name = arguments.tool.as_str();
    let host = open(config, screen).await?;
    let (config, now) = (host.config(), host.snapshot());
    let removal = find_removal(&config, &now, name).map_err(|error| {
        let nearest = match &error {
            RemoveError::Unknown { .. } => now.nearest(name).map(str::to_owned),
            _ => None,
        };
        failure(name, &error, nearest)
    })?;
    let state = config.runtime.wasm.state_path.value.as_path();
    let state = state.is_dir().then_some(state);
    if !screen.json() {
        screen.print(&text(&removal, state, screen))?;
    }
    if !arguments.yes {
        agree(&removal, state, screen)?;
    }
    removal
        .remove()
        .map_err(|error| failure(name, &error, None))?;
    if screen.json() {
        screen.print_json(&of_removal(&removal, state, true))?;
    } else {
        let removed = screen.paint("removed", Tone::Good);
        screen.print(&format!("{removed} `{}`", removal.module().shown()))?;
    }
    Ok(Exit::Ok)
}

/// Asks for a person's word.
fn agree(removal: &Removal, state: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let module = removal.module();
    if !consent::can_ask(screen) {
        let what = format!(
            "`{}` is not removed: somebody has to agree to it",
            module.shown()
        );
        let mut failure =
            Failure::new(Exit::Usage, what).detail("plan", of_removal(removal, state, false));
        for line in consequences(removal) {
            failure = failure.cause(line);
        }
        return Err(failure.help("write `--yes`, or run it at a terminal, where it asks"));
    }
    if screen.json() || !screen.out_is_terminal() {
        screen.note(&text(removal, state, screen.of_stderr()));
    }
    let question = format!("Remove `{}`?", module.shown());
    consent::ask(&question, "nothing was removed", screen)
}

/// What will be otherwise, in sentences.
fn consequences(removal: &Removal) -> Vec<String> {
    let mut all = Vec::new();
    if !removal.tools.is_empty() {
        let tools: Vec<String> = removal
            .tools
            .iter()
            .map(|tool| format!("`{tool}`"))
            .collect();
        all.push(format!("{} will be gone", tools.join(", ")));
    }
    all.extend(removal.named_by.iter().map(|entry| {
        let NamedBy {
            entry: name, place, ..
        } = entry;
        format!(
            "`[tools.custom.{name}]` ({place}) names it, and {}",
            fate(entry)
        )
    }));
    all
}

/// What becomes of an entry that names it.
fn fate(entry: &NamedBy) -> &'static str {
    match (entry.is_off, entry.as_command) {
        (true, _) => "is switched off anyway",
        (false, true) => "will run a program of that name, if there is one",
        (false, false) => "will be broken",
    }
}

fn text(removal: &Removal, state: Option<&Path>, screen: Screen) -> String {
    let mut text = format!("{}\n", removal.module().shown());
    let mut line = |line: &str| {
        let _ = writeln!(text, "  {}", screen.guest_out(line));
    };
    if let Some(to) = &removal.link_to {
        line(&format!("it is a link; `{}` stays", to.shown()));
    }
    if let Some(reason) = &removal.broken {
        line(&format!("it is broken: {reason}"));
    }
    for consequence in consequences(removal) {
        line(&consequence);
    }
    if !removal.beside.is_empty() {
        let beside = facts::names(&removal.beside);
        line(&format!("what lies beside it stays: {beside}"));
    }
    if let Some(state) = state {
        let state = state.shown();
        line(&format!(
            "what it has kept between calls stays in `{state}`"
        ));
    }
    text
}

fn of_removal(removal: &Removal, state: Option<&Path>, removed: bool) -> Value {
    let named_by: Vec<Value> = removal
        .named_by
        .iter()
        .map(|entry| {
            json!({
                "entry": entry.entry,
                "place": entry.place,
                "switched_off": entry.is_off,
                "as_command": entry.as_command,
            })
        })
        .collect();
    json!({
        "removed": removed,
        "module": removal.module().display().to_string(),
        "link_to": removal.link_to.as_ref().map(|to| to.display().to_string()),
        "tools": removal.tools,
        "broken": removal.broken,
        "named_by": named_by,
        "beside": removal.beside,
        "state_path": state.map(|state| state.display().to_string()),
    })
}

fn failure(name: &str, error: &RemoveError, nearest: Option<String>) -> Failure {
    let exit = match error {
        RemoveError::Io { .. } => Exit::Unavailable,
        _ => Exit::Usage,
    };
    let failure = Failure::new(exit, format!("`{name}` can not be removed"));
    let failure = failure.cause(error.to_string());
    match nearest {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure.help_if_any(error.help()),
    }
}

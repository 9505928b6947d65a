//! `cargo xtask bench`: bench programs measure and print rows, this judges them. A
//! bench program is a `[[bench]]` with `harness = false` of the package of tests.

mod row;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use comfy_table::{CellAlignment, Table, presets};

use crate::services::Services;
use crate::steps::Steps;
use crate::workspace::Workspace;
use crate::{command, test};
use row::{Measured, Row};

/// The package whose benches are run.
const PACKAGE: &str = "prx-tests";

/// The bench that looks for an engine and a sandbox.
const WITH_SERVICES: &str = "commands";

/// `cargo xtask bench`
#[derive(clap::Args)]
pub struct Request {
    /// The benches to run; all by default.
    names: Vec<String>,
    /// Fail when a goal is missed.
    #[arg(long)]
    strict: bool,
}

/// Runs `cargo xtask bench`.
pub fn run(workspace: &Workspace, request: &Request) -> Result<()> {
    let members = workspace.members()?;
    let package = members.package(PACKAGE).with_context(|| {
        format!("the workspace has no package `{PACKAGE}`, which has the benches")
    })?;
    let present: Vec<_> = package
        .targets_of_kind("bench")
        .map(|target| target.name.as_str())
        .collect();
    let names = chosen(&request.names, &present)?;
    let mut steps = Steps::default();
    let Some(modules) = test::build_modules(workspace, &mut steps) else {
        return steps.finish();
    };
    let program = members.target_directory.join("release/prx-host");
    steps.run("Building the program", || {
        let mut build = workspace.cargo("build");
        build.args(["--release", "--package", "prx-host", "--bin", "prx-host"]);
        command::run(&mut build)?;
        Ok(program.display().to_string())
    });
    let mut services = None;
    if names.contains(&WITH_SERVICES) {
        services = Services::start(&mut steps);
        if services.is_none() {
            return steps.finish();
        }
    }
    let mut rows = Vec::new();
    for name in names {
        steps.run(&format!("Bench {name}"), || {
            let mut bench = workspace.cargo("bench");
            bench
                .args(["--package", PACKAGE, "--bench", name])
                .envs(modules.variables())
                .env("PRX_BENCH_PROGRAM", &program);
            if let Some(services) = &services {
                bench.envs(services.variables());
            }
            let measured = row::read(&command::output(&mut bench)?)?;
            let remark = format!("{} rows", measured.len());
            rows.extend(measured.into_iter().map(Measured::judged));
            Ok(remark)
        });
    }
    println!("\n{}", table(&rows));
    write(&rows, &members.target_directory.join("bench"))?;
    steps.finish()?;
    verdict(&rows, request.strict)
}

/// The benches asked for, in the order in which they are listed.
fn chosen<'a>(asked: &[String], present: &[&'a str]) -> Result<Vec<&'a str>> {
    if let Some(unknown) = asked.iter().find(|name| !present.contains(&name.as_str())) {
        bail!(
            "there is no bench `{unknown}`; there are: {}",
            present.join(", ")
        );
    }
    if present.is_empty() {
        bail!("the package `{PACKAGE}` has no bench");
    }
    let is_asked = |name: &&str| asked.is_empty() || asked.iter().any(|other| other == name);
    Ok(present.iter().copied().filter(is_asked).collect())
}

fn write(rows: &[Row], folder: &Path) -> Result<()> {
    let path = folder.join("results.json");
    let text = serde_json::to_string_pretty(rows)?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text + "\n"))
        .with_context(|| format!("could not write `{}`", path.display()))?;
    println!("written to `{}`", path.display());
    Ok(())
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["bench", "unit", "ours", "baseline", "ratio", "goal", "met"]);
    for row in rows {
        let number =
            |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        let met = match row.met {
            None => "",
            Some(true) => "yes",
            Some(false) => "MISSED",
        };
        table.add_row([
            row.name.clone(),
            row.unit.clone(),
            number(Some(row.ours)),
            number(row.baseline),
            number(row.ratio),
            row.goal
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
            met.to_owned(),
        ]);
    }
    for column in 2..=4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Says loudly which goals were missed; an error only if that was asked for.
fn verdict(rows: &[Row], strict: bool) -> Result<()> {
    let missed: Vec<_> = rows.iter().filter(|row| row.met == Some(false)).collect();
    let judged = rows.iter().filter(|row| row.met.is_some()).count();
    if missed.is_empty() {
        println!("all {judged} goals are met");
        return Ok(());
    }
    let names: Vec<_> = missed.iter().map(|row| row.name.as_str()).collect();
    let said = format!(
        "{} of {judged} GOALS MISSED: {}",
        missed.len(),
        names.join(", ")
    );
    if strict {
        bail!("{said}");
    }
    eprintln!("warning: {said}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let text = concat!(
            r#"{"name":"call p50","unit":"us","ours":50,"baseline":42,"goal":"ratio <= 1.25"}"#,
            "\n",
            r#"{"name":"scaling","unit":"x","ours":1.5,"goal":"ours >= 1.7"}"#,
            "\n",
        );
        row::read(text)
            .unwrap()
            .into_iter()
            .map(Measured::judged)
            .collect()
    }

    #[test]
    fn a_missed_goal_fails_only_where_that_was_asked_for() {
        verdict(&rows(), false).unwrap();
        verdict(&rows()[..1], true).unwrap();
        let error = verdict(&rows(), true).unwrap_err().to_string();
        assert_eq!(error, "1 of 2 GOALS MISSED: scaling");
    }

    #[test]
    fn the_table_shows_every_row() {
        let table = table(&rows()).to_string();
        for text in [
            "call p50",
            "1.190",
            "ratio <= 1.25",
            "yes",
            "scaling",
            "MISSED",
        ] {
            assert!(table.contains(text), "no {text} in\n{table}");
        }
    }

    #[test]
    fn results_are_an_array_of_rows() {
        let folder = tempfile::tempdir().unwrap();
        write(&rows(), &folder.path().join("bench")).unwrap();
        let text = fs::read_to_string(folder.path().join("bench/results.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[0]["met"], true);
        assert_eq!(value[1]["baseline"], serde_json::Value::Null);
        assert_eq!(value[1]["goal"], "ours >= 1.7");
    }

    #[test]
    fn a_bench_that_does_not_exist_is_an_error_that_lists_those_that_do() {
        let error = chosen(&["cal".to_owned()], &["call", "open"])
            .unwrap_err()
            .to_string();
        assert_eq!(error, "there is no bench `cal`; there are: call, open");
        assert_eq!(
            chosen(&["open".to_owned()], &["call", "open"]).unwrap(),
            ["open"]
        );
        assert_eq!(chosen(&[], &["call", "open"]).unwrap(), ["call", "open"]);
    }
}

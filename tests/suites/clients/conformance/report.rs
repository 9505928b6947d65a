//! What the suite found, and what it should have found. Its own exit code counts only what
//! it scores, and forgives scenarios that never ran; here every check counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use prx_tests::Served;
use serde::Deserialize;

use crate::fetched;

/// Beside every scenario: whether all messages fit the schema of the protocol.
const OF_ALL: &str = "wire-schema-valid";

/// All checks, by scenario.
pub type Report = BTreeMap<String, Vec<Check>>;

/// One thing that the suite looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    pub id: String,
    pub status: Status,
    pub error_message: Option<String>,
}

/// What it thinks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// What should be found.
pub struct Expected {
    /// Scenarios in which all goes well but for these checks, each with the reason.
    pub passes: &'static [(&'static str, Except)],
    /// Scenarios that can not pass, each with the reason.
    pub inapplicable: &'static [(&'static str, &'static str)],
}

/// Checks that do not apply, each with the reason.
pub type Except = &'static [(&'static str, &'static str)];

/// Lets the suite loose on a server.
pub fn run(served: &Served, revision: &str, folder: &Path) -> Result<Report> {
    let results = folder.join("results");
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let script = "@modelcontextprotocol/conformance/dist/index.js";
    let ended = fetched::node(script, folder)?
        .args(["server", "--requirements", revision, "--url"])
        .arg(format!("http://{}/mcp", served.address))
        .arg("--output-dir")
        .arg(&results)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&ended.stdout);
    ensure!(
        said.contains("=== SUMMARY ==="),
        "the suite broke down: {said}\n{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let mut report = Report::new();
    for entry in fs::read_dir(&results)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let scenario = scenario_of(&name).with_context(|| format!("a folder `{name}`"))?;
        let checks = fs::read(entry.path().join("checks.json"))?;
        let checks =
            serde_json::from_slice(&checks).with_context(|| format!("the checks of {scenario}"))?;
        report.insert(scenario.to_owned(), checks);
    }
    Ok(report)
}

/// `ping` of `server-ping-2026-11-30T03-08-38-410Z`.
fn scenario_of(folder: &str) -> Option<&str> {
    let named = folder.strip_prefix("server-")?;
    named.get(..named.len().checked_sub("-2026-11-30T03-08-38-410Z".len())?)
}

/// Everything that is not as it should be.
pub fn judge(report: &Report, expected: &Expected) -> Vec<String> {
    let mut faults = Vec::new();
    for (scenario, except) in expected.passes {
        match report.get(*scenario) {
            Some(checks) => faults.extend(of_passing(scenario, checks, except)),
            None => faults.push(format!("{scenario}: it did not run")),
        }
    }
    for (scenario, reason) in expected.inapplicable {
        match report.get(*scenario) {
            Some(checks) if of_passing(scenario, checks, &[]).is_empty() => faults.push(format!(
                "{scenario}: it passes, although it should not apply ({reason})"
            )),
            Some(_) => {}
            None => faults.push(format!("{scenario}: it did not run")),
        }
    }
    let known = |name: &str| {
        let passes = expected.passes.iter().map(|(known, _)| known);
        let all = passes.chain(expected.inapplicable.iter().map(|(known, _)| known));
        all.into_iter().any(|known| *known == name)
    };
    let unknown = report.keys().filter(|name| !known(name));
    faults.extend(unknown.map(|name| format!("{name}: nobody here knows this scenario")));
    faults
}

/// What keeps a scenario from having passed.
fn of_passing(scenario: &str, checks: &[Check], except: Except) -> Vec<String> {
    let mut faults = Vec::new();
    let is_bad = |check: &&Check| matches!(check.status, Status::Failure | Status::Warning);
    for bad in checks.iter().filter(is_bad) {
        if except.iter().all(|(id, _)| *id != bad.id) {
            let said = bad.error_message.as_deref().unwrap_or_default();
            faults.push(format!("{scenario}: {}: {said}", bad.id));
        }
    }
    for (id, reason) in except {
        if !checks.iter().filter(is_bad).any(|check| check.id == *id) {
            faults.push(format!(
                "{scenario}: {id}: it passes, although it should not apply ({reason})"
            ));
        }
    }
    let good = |check: &Check| check.status == Status::Success && check.id != OF_ALL;
    if !checks.iter().any(good) {
        faults.push(format!("{scenario}: nothing was proved"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected = Expected {
        passes: &[("ping", &[]), ("half", &[("odd", "it can not be")])],
        inapplicable: &[("alien", "we have none")],
    };

    fn checks(of: &[(&str, Status)]) -> Vec<Check> {
        let check = |(id, status): &(&str, Status)| Check {
            id: (*id).to_owned(),
            status: *status,
            error_message: None,
        };
        of.iter().map(check).collect()
    }

    fn good() -> Report {
        [
            ("ping", &[("ping", Status::Success)][..]),
            (
                "half",
                &[("even", Status::Success), ("odd", Status::Failure)],
            ),
            ("alien", &[(OF_ALL, Status::Success)]),
        ]
        .map(|(name, of)| (name.to_owned(), checks(of)))
        .into()
    }

    #[test]
    fn conformance_is_judged_without_a_fault_where_there_is_none() {
        assert_eq!(judge(&good(), &EXPECTED), [""; 0]);
        let name = "server-sep-2164-resource-not-found-2026-11-30T03-08-38-410Z";
        assert_eq!(scenario_of(name), Some("sep-2164-resource-not-found"));
        assert_eq!(scenario_of("server-x"), None);
    }

    #[test]
    fn conformance_is_denied_to_what_fails_warns_vanishes_or_proves_nothing() {
        for (scenario, of) in [
            ("ping", Some(&[("ping", Status::Failure)][..])),
            (
                "ping",
                Some(&[("ping", Status::Success), ("x", Status::Warning)]),
            ),
            (
                "ping",
                Some(&[(OF_ALL, Status::Success), ("ping", Status::Skipped)]),
            ),
            ("ping", None),
            ("alien", None),
            ("new", Some(&[("new", Status::Success)])),
            // What is on a list and passes must go from it.
            (
                "half",
                Some(&[("even", Status::Success), ("odd", Status::Success)]),
            ),
            ("alien", Some(&[("alien", Status::Success)])),
        ] {
            let mut report = good();
            report.remove(scenario);
            if let Some(of) = of {
                report.insert(scenario.to_owned(), checks(of));
            }
            let faults = judge(&report, &EXPECTED);
            assert!(!faults.is_empty(), "{scenario}: {of:?}");
            assert!(
                faults.iter().all(|fault| fault.starts_with(scenario)),
                "{faults:?}"
            );
        }
    }
}

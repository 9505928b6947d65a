//! The official conformance suite against the real program over HTTP, for the requirements
//! of both eras. The suite is lenient, so what the fixtures answer is looked at here, too.

mod contents;
mod expected;
mod report;

use anyhow::{Result, ensure};
use prx_tests::Served;

use crate::fixture;
use report::{Expected, judge, run};

/// How often the suite may be run: it gives some answers half a second, which they may miss
/// on a machine that does much else meanwhile.
const RUNS: usize = 3;

fn conforms(revision: &str, expected: &Expected) -> Result<()> {
    let stage = fixture::stage()?;
    let served = Served::start(&stage, &[])?.ready()?;
    let mut faults = Vec::new();
    for _ in 0..RUNS {
        faults = judge(&run(&served, revision, stage.root())?, expected);
        if faults.is_empty() {
            return Ok(());
        }
    }
    ensure!(faults.is_empty(), "{revision}:\n  {}", faults.join("\n  "));
    Ok(())
}

#[test]
fn conformance_to_the_last_revision_with_sessions() -> Result<()> {
    conforms("2025-11-25", &expected::SESSIONS)
}

#[test]
fn conformance_to_the_revision_without_sessions() -> Result<()> {
    conforms("2026-07-28", &expected::STATELESS)
}

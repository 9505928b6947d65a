//! Hot reload: what changes on disk is in force a moment later, and nobody who calls
//! notices anything but a newer version.

mod config;
mod loading;
mod modules;
mod release;
mod storm;
mod watching;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::{Broken, Host, Snapshot};
use prx_tests::calls::text;
use prx_tests::{Stage, Versions};
use serde_json::json;

/// The tool that tells its version, of the module `skill`.
const TELL: &str = "skill_tell";

/// A stage with `skill.wasm` in version 1.
fn stage() -> Result<(Stage, Versions)> {
    let versions = Versions::new()?;
    let stage = Stage::new()?.module("skill", &versions.module(1))?;
    Ok((stage, versions))
}

fn module(stage: &Stage, name: &str) -> PathBuf {
    stage.path("modules").join(name)
}

/// Replaces a file as careful programs do.
fn replace(file: &std::path::Path, bytes: &[u8]) -> Result<()> {
    let name = file.file_name().context("a file has a name")?;
    let beside = file.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    fs::write(&beside, bytes)?;
    fs::rename(&beside, file)?;
    Ok(())
}

/// Proves that the tool serves in this version, in its description and in its answer.
async fn assert_version(host: &Host, tool: &str, version: u32) -> Result<()> {
    let expected = Versions::text(version);
    let snapshot = host.snapshot();
    let found = snapshot.tool(tool).with_context(|| {
        let names: Vec<_> = snapshot.tools().map(|tool| tool.name()).collect();
        format!("there is no `{tool}`, only {names:?}")
    })?;
    ensure!(
        found.spec().description == expected,
        "`{tool}` describes itself as {}",
        found.spec().description
    );
    let answer = text(host, tool, json!({})).await?;
    ensure!(answer == expected, "`{tool}` answered {answer}");
    Ok(())
}

/// What is wrong with an entry.
fn fault(snapshot: &Arc<Snapshot>, name: &str) -> Result<Broken> {
    let mut faults = snapshot.broken().iter().filter(|fault| fault.name == name);
    let fault = faults.next().cloned();
    ensure!(faults.next().is_none(), "`{name}` has several faults");
    fault.with_context(|| format!("`{name}` has no fault: {:?}", snapshot.broken()))
}

//! The program under test: the one that an environment variable names, else built once
//! by cargo.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

use crate::workspace;

/// The program `prx-host`: `$PRX_TEST_PROGRAM`, or built now.
pub fn program() -> Result<&'static Path> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let found = PROGRAM.get_or_init(|| match std::env::var_os("PRX_TEST_PROGRAM") {
        Some(program) => Ok(program.into()),
        None => build().map_err(|error| format!("{error:#}")),
    });
    match found {
        Ok(program) => Ok(program),
        Err(error) => Err(anyhow!("{error}"))
            .context("can not build the program; set `PRX_TEST_PROGRAM` to one"),
    }
}

fn build() -> Result<PathBuf> {
    // Test programs that come here at once take turns, as those that build modules do.
    let lock = std::env::current_exe()?.with_file_name("program.lock");
    let lock = File::create(&lock).with_context(|| format!("creating `{}`", lock.display()))?;
    lock.lock()
        .context("waiting for another build of the program")?;

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace())
        .args([
            "build",
            "--quiet",
            "--package",
            "prx-host",
            "--bin",
            "prx-host",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    ensure!(
        output.status.success(),
        "`cargo build` of the program failed: {}",
        output.status
    );
    for line in output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let message: Value = serde_json::from_slice(line).context("reading cargo's messages")?;
        if let Some(program) = message["executable"].as_str() {
            return Ok(program.into());
        }
    }
    Err(anyhow!("cargo built no program"))
}

//! Where a command runs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use prx_host::{ExecutionOutput, RuntimeError};

use super::play;
use crate::fixture::{Behaviour, Fixture, Stage};

/// A backend may show the workspace under another path.
fn assert_is<F: Fixture>(fixture: &F, output: &ExecutionOutput, folder: &Path) {
    let told = output.stdout.text();
    if fixture.differences().shows_own_paths {
        assert_eq!(Path::new(told.trim()), folder);
    } else {
        assert!(told.trim().starts_with('/'), "{output:?}");
    }
}

pub async fn the_workspace_is_the_working_folder<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let output = play(fixture, &stage, Behaviour::PrintFolder).await?;
    assert_is(fixture, &output, &stage.workspace);
    Ok(())
}

pub async fn a_call_has_its_own_working_folder<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let inner = stage.workspace.join("inner folder");
    fs::create_dir(&inner)?;
    let command = fixture.command(&Behaviour::PrintFolder)?;
    let env = HashMap::new();
    let mut execution = command.execution(&env);
    execution.working_dir = Some(&inner);
    let output = stage.adapter.run(execution).await?;
    assert!(
        output.stdout.text().trim().ends_with("/inner folder"),
        "{output:?}"
    );
    assert_is(fixture, &output, &inner);
    Ok(())
}

pub async fn a_working_folder_that_is_missing_is_an_error<F: Fixture>(fixture: &F) -> Result<()> {
    let stage = Stage::plain(fixture).await?;
    let command = fixture.command(&Behaviour::PrintFolder)?;
    fs::write(stage.workspace.join("file"), "")?;
    for name in ["nowhere", "file"] {
        let folder = stage.workspace.join(name);
        let env = HashMap::new();
        let mut execution = command.execution(&env);
        execution.working_dir = Some(&folder);
        let error = stage.adapter.run(execution).await;
        assert!(
            matches!(error, Err(RuntimeError::WorkingDirectory { .. })),
            "{name}: {error:?}"
        );
    }
    fs::remove_file(stage.workspace.join("file"))?;
    fs::remove_dir(&stage.workspace)?;
    let error = stage.adapter.run(command.execution(&HashMap::new())).await;
    assert!(
        matches!(error, Err(RuntimeError::WorkingDirectory { .. })),
        "{error:?}"
    );
    assert!(!stage.workspace.exists(), "a missing folder is not made");
    Ok(())
}

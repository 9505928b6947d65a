//! Which sandbox is taken, and what is said when one does not work.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Result;
use prx_host::config::{Config, Environment};
use prx_host::{NativeAdapter, RuntimeError, native_health};
use tempfile::TempDir;

/// A configuration with some keys of `[security.sandbox]`, and the environment of a
/// machine on which `bwrap` is the given script.
fn machine(keys: &str, bwrap: Option<&str>) -> Result<(Config, Environment, TempDir)> {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let programs = folder.path().join("bin");
    fs::create_dir(&programs)?;
    if let Some(script) = bwrap {
        let file = programs.join("bwrap");
        fs::write(&file, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    let environment = Environment::new(folder.path())
        .with("HOME", folder.path())
        .with("PATH", programs);
    let text = format!("[security.sandbox]\n{keys}");
    let file = folder.path().join("config.toml");
    let loaded = Config::from_toml(&text, &file, &environment);
    let loaded = loaded.map_err(|faults| anyhow::anyhow!("{faults:?}"))?;
    Ok((loaded.config, environment, folder))
}

fn sandbox_error(error: RuntimeError) -> (String, String) {
    let RuntimeError::Sandbox { reason, help, .. } = error else {
        panic!("{error:?}");
    };
    (reason, help)
}

#[tokio::test]
async fn the_strongest_that_works_is_taken() -> Result<()> {
    let (config, _, _folder) = machine("backend = \"auto\"", None)?;
    let whole = Environment::of_process()?;
    let adapter = NativeAdapter::new(&config, &whole).await?;
    assert_eq!(adapter.sandbox(), "bubblewrap");
    Ok(())
}

#[tokio::test]
async fn one_that_is_there_and_forbidden_is_passed_over() -> Result<()> {
    let script = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
    let (config, environment, _folder) = machine("backend = \"auto\"", Some(script))?;
    let adapter = NativeAdapter::new(&config, &environment).await?;
    assert_eq!(adapter.sandbox(), "landlock");
    Ok(())
}

#[tokio::test]
async fn a_named_one_that_is_missing_is_an_error_with_a_remedy() -> Result<()> {
    for (name, package) in [("bubblewrap", "bubblewrap"), ("firejail", "firejail")] {
        let (config, environment, _folder) = machine(&format!("backend = \"{name}\""), None)?;
        let error = NativeAdapter::new(&config, &environment).await.unwrap_err();
        let (reason, help) = sandbox_error(error);
        assert!(reason.contains("PATH"), "{reason}");
        assert!(
            help.contains(&format!("apt-get install {package}")),
            "{help}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_named_one_that_is_forbidden_is_an_error_with_a_remedy() -> Result<()> {
    for said in [
        "setting up uid map: Permission denied",
        "loopback: Failed RTM_NEWADDR: Operation not permitted",
    ] {
        let script = format!("echo 'bwrap: {said}' >&2; exit 1");
        let (config, environment, _folder) = machine("backend = \"bubblewrap\"", Some(&script))?;
        let error = NativeAdapter::new(&config, &environment).await.unwrap_err();
        let (reason, help) = sandbox_error(error);
        assert_eq!(reason, said);
        assert!(help.contains("sysctl"), "{help}");
    }
    Ok(())
}

#[tokio::test]
async fn containers_are_somebody_elses_work() -> Result<()> {
    let (config, environment, _folder) = machine("backend = \"docker\"", None)?;
    let error = NativeAdapter::new(&config, &environment).await.unwrap_err();
    let (reason, _) = sandbox_error(error);
    assert!(reason.contains("Docker"), "{reason}");
    Ok(())
}

#[tokio::test]
async fn the_doctor_says_where_native_commands_run_that_run_in_containers() -> Result<()> {
    let (config, environment, _folder) = machine("backend = \"docker\"", None)?;
    let found = native_health(&config, &environment).await;
    assert!(found[0].usable, "{:#?}", found[0]);
    let version = found[0].version.as_deref().unwrap_or_default();
    assert!(version.contains("containers"), "{version}");
    Ok(())
}

#[tokio::test]
async fn the_doctor_warns_of_a_configuration_that_landlock_leaves_to_commands() -> Result<()> {
    let (mut config, _, folder) = machine("", None)?;
    let file = folder.path().join("config.toml");
    fs::write(&file, "")?;
    config.file = Some(file.clone());
    config.runtime.workspace.value = folder.path().to_owned();
    let found = native_health(&config, &Environment::of_process()?).await;
    let file = file.canonicalize()?.display().to_string();
    for health in &found[1..] {
        let is_told = health.notes.iter().any(|note| note.contains(&file));
        assert_eq!(is_told, health.name == "landlock", "{health:#?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_writable_path_that_is_missing_is_named_with_its_key() -> Result<()> {
    let keys = "backend = \"bubblewrap\"\nwritable_paths = [\"/no/such/folder\"]";
    let (config, _, _folder) = machine(keys, None)?;
    let whole = Environment::of_process()?;
    let error = NativeAdapter::new(&config, &whole).await.unwrap_err();
    let help = error.help().unwrap_or_default();
    assert!(matches!(error, RuntimeError::Folder { .. }), "{error:?}");
    assert!(
        help.contains("writable_paths") && help.contains("config.toml:3"),
        "{help}"
    );
    Ok(())
}

#[tokio::test]
async fn the_doctor_is_told_of_every_sandbox() -> Result<()> {
    let (config, environment, _folder) = machine("", None)?;
    let whole = Environment::of_process()?;
    let found = native_health(&config, &whole).await;
    let names: Vec<&str> = found.iter().map(|health| health.name).collect();
    assert_eq!(names, ["native", "bubblewrap", "landlock", "firejail"]);
    assert!(found.iter().all(|health| health.usable), "{found:#?}");
    assert!(
        found.iter().all(|health| !health.notes.is_empty()),
        "{found:#?}"
    );

    let found = native_health(&config, &environment).await;
    let bubblewrap = &found[1];
    assert!(
        !bubblewrap.usable && bubblewrap.help.is_some(),
        "{bubblewrap:#?}"
    );
    Ok(())
}

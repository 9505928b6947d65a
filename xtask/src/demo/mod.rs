//! `cargo xtask demo`: from a fresh clone to tools that answer, in a folder that is
//! the user's to play with. What a user changed or made there stays.

mod calls;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::guests::{self, Others};
use crate::workspace::Workspace;
use crate::{command, wasm_target};
use written::Decision;

/// Runs `cargo xtask demo`.
pub fn run(workspace: &Workspace, dir: Option<PathBuf>) -> Result<()> {
    let dir = match dir {
        Some(dir) => std::path::absolute(dir)?,
        None => workspace.root.join("demo"),
    };
    heading("The compilation target of skills");
    wasm_target::ensure()?;

    heading("Building the skills");
    let skills = guests::build_plugins(workspace, &dir.join("skills"), Others::Keep)?;
    println!(
        "{} in `{}`",
        skills.join(", "),
        shown(&dir.join("skills")).display()
    );

    heading("Building the program");
    let program = build_program(workspace)?;

    heading("The folder");
    furnish(&dir)?;

    heading("The tools");
    let config = shown(&dir.join("config.toml"));
    let host = || {
        let mut host = Command::new(shown(&program));
        host.arg("--config").arg(&config);
        host
    };
    show(host().arg("list"))?;
    for call in calls::CALLS {
        heading(call.title);
        show(host().args(["call", call.tool, call.arguments]))?;
    }

    heading("Try next");
    for (arguments, purpose) in calls::NEXT {
        println!(
            "  {} {arguments}\n      {purpose}",
            command::line_of(&host())
        );
    }
    println!(
        "\n`{}` is yours: edit `config.toml`, drop other modules into `skills`. Running the demo\n\
         again builds the skills anew and leaves the rest as it is.",
        shown(&dir).display()
    );
    Ok(())
}

fn heading(title: &str) {
    println!("\n== {title}");
}

/// Runs a command where the user stands, after showing it as he could type it. A demo
/// that shows nothing is no demo: silence is a failure.
fn show(command: &mut Command) -> Result<()> {
    println!("$ {}", command::line_of(command));
    let printed = command::output(command)?;
    if printed.trim().is_empty() {
        bail!("`{}` printed nothing", command::line_of(command));
    }
    println!("{}", printed.trim_end());
    Ok(())
}

/// A path as the user would type it: relative where it lies below the current folder.
fn shown(path: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(current) => relative(path, &current),
        Err(_) => path.to_owned(),
    }
}

fn relative(path: &Path, current: &Path) -> PathBuf {
    match path.strip_prefix(current) {
        Ok(below) if below.as_os_str().is_empty() => PathBuf::from("."),
        // A name alone would be looked up on the `PATH`.
        Ok(below) if below.components().count() == 1 => Path::new(".").join(below),
        Ok(below) => below.to_owned(),
        Err(_) => path.to_owned(),
    }
}

/// Makes the folders, the documents and the configuration.
fn furnish(dir: &Path) -> Result<()> {
    for folder in calls::FOLDERS {
        let folder = dir.join(folder);
        fs::create_dir_all(&folder)
            .with_context(|| format!("could not make the folder `{}`", folder.display()))?;
    }
    for (name, text) in calls::DOCUMENTS {
        let path = dir.join("documents").join(name);
        if !path.exists() {
            fs::write(&path, text)
                .with_context(|| format!("could not write `{}`", path.display()))?;
        }
    }
    let path = dir.join("config.toml");
    let copy = dir.join(".config.toml.as-written");
    let decision = written::write_unless_changed(&path, &copy, calls::CONFIG)?;
    let path = shown(&path);
    match decision {
        Decision::Write => println!("wrote `{}`", path.display()),
        Decision::Leave => println!("`{}` is up to date", path.display()),
        Decision::Keep => println!(
            "`{}` was changed by you and stays as it is; remove it to get a fresh one",
            path.display()
        ),
    }
    Ok(())
}

/// A message of cargo; only what is needed here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// Builds `prx-host` and tells where it lies.
fn build_program(workspace: &Workspace) -> Result<PathBuf> {
    let mut build = workspace.cargo("build");
    build
        .args(["--package", "prx-host", "--bin", "prx-host"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit());
    let messages = command::output(&mut build)?;
    for line in messages.lines() {
        let message: Message =
            serde_json::from_str(line).with_context(|| format!("cargo printed `{line}`"))?;
        if let Some(program) = message.executable {
            return Ok(program);
        }
    }
    bail!("cargo built `prx-host` but named no program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_a_shell_takes_them() {
        let shown = |path, current| relative(Path::new(path), Path::new(current));
        assert_eq!(
            shown("/w/target/debug/prx-host", "/w"),
            Path::new("target/debug/prx-host")
        );
        assert_eq!(shown("/w/prx-host", "/w"), Path::new("./prx-host"));
        assert_eq!(
            shown("/elsewhere/prx-host", "/w"),
            Path::new("/elsewhere/prx-host")
        );
        assert_eq!(shown("/w", "/w"), Path::new("."));
    }

    #[test]
    fn a_command_that_shows_nothing_is_a_failure() {
        show(Command::new("rustc").arg("--version")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("empty.rs");
        fs::write(&source, "").unwrap();
        let mut silent = Command::new("rustc");
        silent
            .current_dir(folder.path())
            .args(["--crate-type", "lib", "--emit", "metadata"]);
        let error = show(silent.arg(source)).unwrap_err().to_string();
        assert!(error.ends_with("printed nothing"), "{error}");
    }

    #[test]
    fn what_a_user_changed_in_the_folder_stays() {
        let folder = tempfile::tempdir().unwrap();
        furnish(folder.path()).unwrap();
        let own = folder.path().join("documents/garden.md");
        let config = folder.path().join("config.toml");
        fs::write(&own, "my garden").unwrap();
        fs::write(&config, "# mine").unwrap();
        fs::write(folder.path().join("notes/first.md"), "a note").unwrap();
        furnish(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(own).unwrap(), "my garden");
        assert_eq!(fs::read_to_string(config).unwrap(), "# mine");
        assert!(folder.path().join("notes/first.md").exists());
    }

    #[test]
    fn the_configuration_is_toml_and_names_folders_that_are_made() {
        let config: toml::Table = calls::CONFIG.parse().unwrap();
        let tools = config["tools"]["custom"].as_table().unwrap();
        for tool in tools.values() {
            let capabilities = tool["capabilities"].as_table().unwrap();
            for key in ["filesystem_read", "filesystem_write"] {
                for grant in capabilities
                    .get(key)
                    .and_then(|value| value.as_array())
                    .into_iter()
                    .flatten()
                {
                    let (host, _) = grant.as_str().unwrap().split_once("::").unwrap();
                    assert!(calls::FOLDERS.contains(&host), "nobody makes `{host}`");
                }
            }
        }
    }
}

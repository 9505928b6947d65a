//! Clients of the Model Context Protocol that nobody here wrote, for the tests: the
//! official conformance suite, the inspector and the Python SDK, each with all that it needs
//! in the versions and with the checksums of the lock files in `tests/clients`.
//!
//! Invariant: what is in the folder is whole, and is what the lock files say. No script of a
//! package runs when it is fetched.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::command;
use crate::services::packages;
use crate::workspace::Workspace;

/// The variable through which tests find the folder: `node_modules` and `python` are in it.
pub const VARIABLE: &str = "PRX_TEST_CLIENTS";

/// Programs that fetch the clients, and the Debian packages that have them.
const NEEDED: [(&str, &str); 2] = [("npm", "npm"), ("python3", "python3")];

/// What npm reads; it comes with a Node of its own, whatever this machine has.
const NODE: [&str; 2] = ["package.json", "package-lock.json"];
/// What pip reads.
const PYTHON: &str = "requirements.txt";

/// Makes sure that the clients are in a folder. Gives whether they were fetched now.
pub fn fetch(workspace: &Workspace, folder: &Path) -> Result<bool> {
    let locks = workspace.root.join("tests/clients");
    let wanted = digest_of(&locks)?;
    if fs::read_to_string(mark(folder)).is_ok_and(|digest| digest == wanted) {
        return Ok(false);
    }
    packages::ensure(&NEEDED)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    with_npm(&locks, folder)?;
    with_pip(&locks, folder)?;
    // What was missing before is there now, and counts.
    fs::write(mark(folder), digest_of(&locks)?)?;
    Ok(true)
}

/// Written last.
fn mark(folder: &Path) -> PathBuf {
    folder.join(".sha256")
}

/// Of all lock files, and of the Python that packages were chosen for.
fn digest_of(locks: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    for name in NODE.iter().chain([&PYTHON]) {
        let file = locks.join(name);
        digest.update(fs::read(&file).with_context(|| format!("reading `{}`", file.display()))?);
    }
    if command::exists("python3") {
        let version = command::output(Command::new("python3").args([
            "-c",
            "import sys, platform; print(sys.version, sys.executable, platform.machine())",
        ]))?;
        digest.update(version);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

fn with_npm(locks: &Path, folder: &Path) -> Result<()> {
    for name in NODE {
        fs::copy(locks.join(name), folder.join(name))?;
    }
    // Not `npm ci`: that one demands that packages for other systems can be had, too.
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(["install", "--no-save", "--ignore-scripts", "--no-audit"])
        .args(["--no-fund", "--loglevel=error"]);
    command::quietly(&mut npm)?;
    let packages = |file: PathBuf| -> Result<Value> {
        let text = fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
        let mut lock: Value = serde_json::from_str(&text)?;
        Ok(lock["packages"].take())
    };
    let locked = packages(folder.join(NODE[1]))?;
    let installed = packages(folder.join("node_modules/.package-lock.json"))?;
    for (name, package) in installed.as_object().context("npm installed nothing")? {
        ensure!(
            package["integrity"].is_string()
                && package["integrity"] == locked[name.as_str()]["integrity"],
            "npm installed `{name}` otherwise than `tests/clients/{}` says",
            NODE[1]
        );
    }
    Ok(())
}

fn with_pip(locks: &Path, folder: &Path) -> Result<()> {
    if !has_pip() {
        packages::install(&["python3-pip"])?;
    }
    let place = folder.join("python");
    // Without a pip of its own it needs nothing that is a package of its own in Debian.
    command::quietly(
        Command::new("python3")
            .args(["-m", "venv", "--without-pip"])
            .arg(&place),
    )?;
    command::quietly(
        Command::new("python3")
            .args(["-m", "pip", "--python"])
            .arg(place.join("bin/python"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(["--require-hashes", "--no-deps", "--only-binary", ":all:"])
            .arg("--requirement")
            .arg(locks.join(PYTHON)),
    )
}

fn has_pip() -> bool {
    command::quietly(Command::new("python3").args(["-m", "pip", "--version"])).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_fetched_again_when_a_lock_file_changed() {
        let locks = tempfile::tempdir().unwrap();
        for name in NODE.iter().chain([&PYTHON]) {
            fs::write(locks.path().join(name), "one").unwrap();
        }
        let one = digest_of(locks.path()).unwrap();
        assert_eq!(one, digest_of(locks.path()).unwrap());
        fs::write(locks.path().join(PYTHON), "two").unwrap();
        assert_ne!(one, digest_of(locks.path()).unwrap());
    }

    #[test]
    fn every_client_is_locked_with_its_checksum() {
        let locks = Workspace::find().unwrap().root.join("tests/clients");
        let lock = fs::read_to_string(locks.join("package-lock.json")).unwrap();
        let lock: Value = serde_json::from_str(&lock).unwrap();
        for (name, package) in lock["packages"].as_object().unwrap() {
            assert!(
                name.is_empty() || package["integrity"].is_string(),
                "{name}"
            );
            // Where it comes from is this machine's affair.
            assert!(package.get("resolved").is_none(), "{name}");
        }
        let python = fs::read_to_string(locks.join(PYTHON)).unwrap();
        assert!(python.contains("mcp==2.3.0 \\\n    --hash=sha256:"));
    }
}

//! Where the workspace lies, how its cargo is called, and what it consists of.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command;
use crate::wasm_target::TARGET;

/// The workspace that this program was started in.
pub struct Workspace {
    /// The folder of the root `Cargo.toml`, absolute.
    pub root: PathBuf,
    /// `CARGO_TARGET_DIR`, made absolute: children may run in other folders.
    target_dir: Option<PathBuf>,
}

/// What `cargo metadata` tells; only what is needed here.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// Members, and with `resolved` every dependency too.
    pub packages: Vec<Package>,
    /// Where cargo builds, absolute.
    pub target_directory: PathBuf,
}

/// One package.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The SPDX expression of its licence.
    pub license: Option<String>,
    /// Where it was fetched from; `None` for a path.
    pub source: Option<String>,
    /// Absolute.
    pub manifest_path: PathBuf,
    /// What can be built of it.
    pub targets: Vec<Target>,
}

/// One thing that can be built.
#[derive(Debug, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// For instance `lib`, `bin`, `example`, `bench`.
    pub kind: Vec<String>,
}

impl Workspace {
    /// Finds the workspace of this program.
    pub fn find() -> Result<Self> {
        // Set by `cargo run`: a build folder may be shared by several checkouts.
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir
            .parent()
            .with_context(|| format!("`{}` lies in no workspace", manifest_dir.display()))?
            .to_owned();
        let target_dir = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => Some(std::path::absolute(dir)?),
            None => None,
        };
        Ok(Self { root, target_dir })
    }

    /// A cargo command in the root of the workspace.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = Command::new(cargo_program());
        command.arg(subcommand).current_dir(&self.root);
        if let Some(dir) = &self.target_dir {
            command.env("CARGO_TARGET_DIR", dir);
        }
        command
    }

    /// A cargo command that compiles modules.
    pub fn cargo_for_modules(&self, subcommand: &str) -> Command {
        let mut command = self.cargo(subcommand);
        command.args(["--target", TARGET]);
        // Flags for the programs of this machine do not suit a module; those for the target
        // have a variable of their own.
        command
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    }

    /// The members of the workspace.
    pub fn members(&self) -> Result<Metadata> {
        self.metadata(&["--no-deps"])
    }

    /// The members of the workspace and all that they depend on.
    pub fn resolved(&self) -> Result<Metadata> {
        self.metadata(&["--all-features"])
    }

    fn metadata(&self, arguments: &[&str]) -> Result<Metadata> {
        let mut command = self.cargo("metadata");
        command
            .args(["--quiet", "--format-version", "1"])
            .args(arguments);
        let text = command::output(&mut command)?;
        serde_json::from_str(&text).context("could not read what `cargo metadata` printed")
    }
}

impl Metadata {
    /// The member of that name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    /// The folder of its manifest.
    pub fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("/"))
    }

    /// Its targets of one kind.
    pub fn targets_of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Target> {
        self.targets
            .iter()
            .filter(move |target| target.kind.iter().any(|own| own == kind))
    }
}

/// The cargo that started us, else the one on the `PATH`.
pub fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_knows_its_members() {
        let workspace = Workspace::find().unwrap();
        let members = workspace.members().unwrap();
        let xtask = members.package("xtask").unwrap();
        assert_eq!(xtask.folder(), workspace.root.join("xtask"));
        assert_eq!(xtask.targets_of_kind("bin").count(), 1);
        assert!(xtask.source.is_none());
    }
}

//! Builds WebAssembly modules from the workspace: the example skills under
//! `plugins/` and the guests of the end-to-end suites. What is built is what cargo
//! reports, never what happens to lie in its folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command;
use crate::workspace::{Metadata, Package, Workspace};

/// The package whose examples are the guests.
pub const GUESTS: &str = "prx-guests";

/// Where the modules for the tests lie.
pub struct Modules {
    /// A folder with one module for each skill under `plugins/`.
    pub plugins: PathBuf,
    /// A folder with one module for each guest.
    pub guests: PathBuf,
}

impl Modules {
    /// The variables through which tests find the folders.
    pub fn variables(&self) -> [(&'static str, &Path); 2] {
        [
            ("PRX_TEST_PLUGINS", &self.plugins),
            ("PRX_TEST_GUESTS", &self.guests),
        ]
    }
}

/// Builds all modules that tests need into two folders in `out_dir`, where nothing
/// else stays.
pub fn build_all(workspace: &Workspace, out_dir: &Path) -> Result<Modules> {
    let modules = Modules {
        plugins: out_dir.join("plugins"),
        guests: out_dir.join("guests"),
    };
    build_plugins(workspace, &modules.plugins, Others::Remove)?;
    build_guests(workspace, &modules.guests)?;
    Ok(modules)
}

/// What happens to modules that were not built now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They may be somebody's.
    Keep,
    /// They are from an earlier build.
    Remove,
}

/// Builds every skill under `plugins/`: the member in `plugins/<name>` becomes
/// `<name>.wasm`. Gives the names, in order.
pub fn build_plugins(workspace: &Workspace, into: &Path, others: Others) -> Result<Vec<String>> {
    let metadata = workspace.members()?;
    let members = plugins_of(&metadata, &workspace.root)?;
    let mut build = workspace.cargo_for_modules("build");
    build.args(["--profile", "skill"]);
    for package in members.values() {
        build.args(["--package", &package.name]);
    }
    let modules = modules_built(&mut build)?;
    let mut named = BTreeMap::new();
    for (name, package) in members {
        let mut own = modules
            .iter()
            .filter(|module| module.manifest == package.manifest_path);
        let (Some(module), None) = (own.next(), own.next()) else {
            bail!(
                "`{}` must give one module: one `cdylib` and no more",
                package.name
            );
        };
        named.insert(name, module.file.clone());
    }
    lay(&named, into, others)?;
    Ok(named.into_keys().collect())
}

/// Builds every example of the package of guests: `<example>.wasm`.
fn build_guests(workspace: &Workspace, into: &Path) -> Result<()> {
    let metadata = workspace.members()?;
    if metadata.package(GUESTS).is_none() {
        bail!("the workspace has no package `{GUESTS}`, whose examples are the tests' guests");
    }
    let mut build = workspace.cargo_for_modules("build");
    build.args(["--profile", "skill", "--package", GUESTS, "--examples"]);
    let modules = modules_built(&mut build)?;
    lay(
        &modules
            .into_iter()
            .map(|module| (module.name, module.file))
            .collect(),
        into,
        Others::Remove,
    )
}

/// The members in `plugins/<name>`, by that name.
pub fn plugins_of<'a>(
    metadata: &'a Metadata,
    root: &Path,
) -> Result<BTreeMap<String, &'a Package>> {
    let folder = root.join("plugins");
    let mut members = BTreeMap::new();
    for package in &metadata.packages {
        let Ok(inside) = package.folder().strip_prefix(&folder) else {
            continue;
        };
        // Two in one folder can not be: each has a manifest of its own.
        let name = inside
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(other) = members.insert(name.clone(), package) {
            bail!(
                "`{}` and `{}` would both be `{name}.wasm`",
                other.name,
                package.name
            );
        }
    }
    if members.is_empty() {
        bail!("the workspace has no member under `plugins/`");
    }
    Ok(members)
}

struct Module {
    /// The name of cargo's target.
    name: String,
    /// Of the package.
    manifest: PathBuf,
    file: PathBuf,
}

/// A message of cargo; only what is needed here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<MessageTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct MessageTarget {
    name: String,
}

fn modules_built(build: &mut std::process::Command) -> Result<Vec<Module>> {
    build.arg("--message-format=json-render-diagnostics");
    modules_in(&command::output(build)?)
}

fn modules_in(messages: &str) -> Result<Vec<Module>> {
    let mut modules = Vec::new();
    for line in messages.lines() {
        let message: Message =
            serde_json::from_str(line).with_context(|| format!("cargo printed `{line}`"))?;
        let ("compiler-artifact", Some(manifest), Some(target)) = (
            message.reason.as_str(),
            message.manifest_path,
            message.target,
        ) else {
            continue;
        };
        let is_module = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "wasm");
        if let Some(file) = message.filenames.into_iter().find(is_module) {
            modules.push(Module {
                name: target.name,
                manifest,
                file,
            });
        }
    }
    Ok(modules)
}

/// Copies modules into a folder under their names. A host that watches it sees whole
/// modules only, and sees nothing where nothing changed.
fn lay(modules: &BTreeMap<String, PathBuf>, into: &Path, others: Others) -> Result<()> {
    lay_all(modules, into, others)
        .with_context(|| format!("could not fill the folder `{}`", into.display()))
}

fn lay_all(modules: &BTreeMap<String, PathBuf>, into: &Path, others: Others) -> Result<()> {
    fs::create_dir_all(into)?;
    if others == Others::Remove {
        for entry in fs::read_dir(into)? {
            let path = entry?.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_module = path.extension().is_some_and(|kind| kind == "wasm");
            if is_module && !modules.contains_key(&*stem) {
                fs::remove_file(path)?;
            }
        }
    }
    for (name, from) in modules {
        let bytes = fs::read(from)?;
        let to = into.join(format!("{name}.wasm"));
        if fs::read(&to).is_ok_and(|present| present == bytes) {
            continue;
        }
        let unfinished = into.join(format!(".{name}.{}.tmp", std::process::id()));
        fs::write(&unfinished, &bytes)?;
        fs::rename(unfinished, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn metadata(members: &[(&str, &str)]) -> Metadata {
        let packages: Vec<_> = members
            .iter()
            .map(|(name, manifest_path)| {
                serde_json::json!({
                    "name": name, "version": "0.1.0", "license": null, "source": null,
                    "manifest_path": manifest_path, "targets": [],
                })
            })
            .collect();
        let whole = serde_json::json!({ "packages": packages, "target_directory": "/w/target" });
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_member_under_plugins_is_named_by_its_folder() {
        let metadata = metadata(&[
            ("prx-plugin-find", "/w/plugins/find/Cargo.toml"),
            ("prx-host", "/w/host/Cargo.toml"),
            ("other", "/w/plugins-of-others/x/Cargo.toml"),
        ]);
        let plugins = plugins_of(&metadata, Path::new("/w")).unwrap();
        assert_eq!(plugins.keys().collect::<Vec<_>>(), ["find"]);
        assert_eq!(plugins["find"].name, "prx-plugin-find");
    }

    #[test]
    fn two_members_of_one_name_and_none_at_all_are_errors() {
        let clash = metadata(&[
            ("a", "/w/plugins/find/Cargo.toml"),
            ("b", "/w/plugins/old/find/Cargo.toml"),
        ]);
        let error = plugins_of(&clash, Path::new("/w")).unwrap_err().to_string();
        assert_eq!(error, "`a` and `b` would both be `find.wasm`");
        assert!(plugins_of(&metadata(&[]), Path::new("/w")).is_err());
    }

    #[test]
    fn modules_are_what_cargo_reports() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/r/serde/Cargo.toml","target":{"name":"serde"},"filenames":["/t/libserde.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/w/plugins/find/Cargo.toml","target":{"name":"find"},"filenames":["/t/libfind.rlib","/t/find.wasm"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        let modules = modules_in(messages).unwrap();
        assert_eq!(modules.len(), 1);
        assert_eq!(modules[0].name, "find");
        assert_eq!(modules[0].file, Path::new("/t/find.wasm"));
        assert!(modules_in("warning: not a message").is_err());
    }

    #[test]
    fn only_what_was_built_stays_where_nothing_is_to_be_kept() {
        let (from, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let source = from.path().join("any.wasm");
        fs::write(&source, "new").unwrap();
        for name in ["find.wasm", "old.wasm", "notes.txt"] {
            fs::write(into.path().join(name), "old").unwrap();
        }
        let modules = BTreeMap::from([("find".to_owned(), source)]);
        lay(&modules, into.path(), Others::Keep).unwrap();
        assert!(into.path().join("old.wasm").exists());
        lay(&modules, into.path(), Others::Remove).unwrap();
        assert!(!into.path().join("old.wasm").exists());
        assert!(into.path().join("notes.txt").exists());
        assert_eq!(fs::read(into.path().join("find.wasm")).unwrap(), b"new");
        assert_eq!(fs::read_dir(into.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_module_that_did_not_change_is_not_touched() {
        let into = tempfile::tempdir().unwrap();
        let source = into.path().join("source");
        fs::write(&source, "same").unwrap();
        let to = into.path().join("find.wasm");
        fs::write(&to, "same").unwrap();
        let before = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
        fs::File::options()
            .write(true)
            .open(&to)
            .unwrap()
            .set_modified(before)
            .unwrap();
        lay(
            &BTreeMap::from([("find".to_owned(), source)]),
            into.path(),
            Others::Keep,
        )
        .unwrap();
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), before);
    }
}

//! Licences and sources of all dependencies against `deny.toml`, by cargo-deny where
//! it is installed, and by an evaluation of our own where it is not: never by nothing.

use std::fs;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::command;
use crate::workspace::{Package, Workspace};

/// Checks all dependencies.
pub fn check(workspace: &Workspace) -> Result<String> {
    let mut version = workspace.cargo("deny");
    if command::quietly(version.arg("--version")).is_ok() {
        let mut deny = workspace.cargo("deny");
        command::run(deny.args(["--all-features", "check", "licenses", "bans", "sources"]))?;
        return Ok("by cargo-deny".to_owned());
    }
    let path = workspace.root.join("deny.toml");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let policy = Policy::parse(&text)?;
    let packages = workspace.resolved()?.packages;
    let faults: Vec<_> = packages
        .iter()
        .filter_map(|package| policy.fault_of(package))
        .collect();
    if faults.is_empty() {
        return Ok(format!(
            "{} packages, by our own evaluation",
            packages.len()
        ));
    }
    bail!(
        "{} packages break `deny.toml`\n      {}",
        faults.len(),
        faults.join("\n      ")
    );
}

/// The part of `deny.toml` that is evaluated here.
#[derive(Deserialize)]
struct File {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

/// What is allowed.
struct Policy {
    licences: Vec<Licensee>,
    banned: Vec<Ban>,
    registries: Vec<String>,
}

impl Policy {
    fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).context("could not read `deny.toml`")?;
        let licences = file.licenses.allow.iter().map(|name| {
            Licensee::parse(name).with_context(|| format!("`{name}` in `licenses.allow`"))
        });
        Ok(Self {
            licences: licences.collect::<Result<_>>()?,
            banned: file.bans.deny,
            registries: file.sources.allow_registry,
        })
    }

    /// What is wrong with a package, if anything.
    fn fault_of(&self, package: &Package) -> Option<String> {
        let fault = self
            .ban_of(package)
            .or_else(|| self.source_fault_of(package));
        let fault = fault.or_else(|| self.licence_fault_of(package.license.as_deref()));
        fault.map(|fault| format!("{} {}: {fault}", package.name, package.version))
    }

    fn ban_of(&self, package: &Package) -> Option<String> {
        let ban = self.banned.iter().find(|ban| ban.name == package.name)?;
        Some(format!("is banned: {}", ban.reason))
    }

    fn source_fault_of(&self, package: &Package) -> Option<String> {
        let source = package.source.as_deref()?;
        let allowed = source
            .strip_prefix("registry+")
            .is_some_and(|url| self.registries.iter().any(|registry| registry == url));
        (!allowed).then(|| format!("comes from `{source}`, which is no allowed registry"))
    }

    fn licence_fault_of(&self, licence: Option<&str>) -> Option<String> {
        let Some(text) = licence else {
            return Some("names no licence".to_owned());
        };
        // Old manifests write `/` for `OR`.
        let expression = match Expression::parse_mode(text, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(why) => return Some(format!("`{text}` is no SPDX expression: {}", why.reason)),
        };
        let allowed =
            expression.evaluate(|asked| self.licences.iter().any(|own| own.satisfies(asked)));
        (!allowed).then(|| format!("`{text}` is not satisfied by what is allowed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "https://github.com/rust-lang/crates.io-index";

    fn policy() -> Policy {
        Policy::parse(&format!(
            r#"
            [licenses]
            allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
            [bans]
            deny = [{{ crate = "openssl-sys", reason = "links a system library" }}]
            [sources]
            allow-registry = ["{REGISTRY}"]
            "#
        ))
        .unwrap()
    }

    fn package(name: &str, source: Option<&str>) -> Package {
        serde_json::from_value(serde_json::json!({
            "name": name, "version": "1.0.0", "license": "MIT", "source": source,
            "manifest_path": "/x/Cargo.toml", "targets": [],
        }))
        .unwrap()
    }

    #[test]
    fn an_expression_is_satisfied_by_one_side_of_or_and_both_of_and() {
        let fault = |text| policy().licence_fault_of(Some(text));
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "MIT/Apache-2.0",
            "Apache-2.0 / MIT",
            "(GPL-2.0-only OR MIT) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT WITH LLVM-exception",
            "ISC",
        ] {
            let fault = fault(bad).unwrap_or_else(|| panic!("{bad} was allowed"));
            assert!(fault.contains("not satisfied"), "{fault}");
        }
        assert!(
            fault("mine, all mine")
                .unwrap()
                .contains("no SPDX expression")
        );
        assert!(
            policy()
                .licence_fault_of(None)
                .unwrap()
                .contains("names no licence")
        );
    }

    #[test]
    fn a_package_may_come_from_the_registry_or_a_path_only() {
        let from = |source: Option<&str>| policy().fault_of(&package("x", source));
        assert_eq!(from(None), None);
        assert_eq!(from(Some(&format!("registry+{REGISTRY}"))), None);
        for source in [
            "git+https://github.com/x/x#0",
            "registry+https://example.com/index",
        ] {
            let fault = from(Some(source)).unwrap();
            assert!(fault.starts_with("x 1.0.0: comes from"), "{fault}");
        }
    }

    #[test]
    fn a_banned_package_is_refused_with_the_reason() {
        let fault = policy().fault_of(&package("openssl-sys", None)).unwrap();
        assert_eq!(
            fault,
            "openssl-sys 1.0.0: is banned: links a system library"
        );
    }

    #[test]
    fn the_policy_of_this_project_is_readable() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deny.toml");
        let policy = Policy::parse(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(policy.licence_fault_of(Some("MIT OR Apache-2.0")), None);
        assert!(policy.licence_fault_of(Some("AGPL-3.0-only")).is_some());
    }

    #[test]
    fn a_licence_that_does_not_exist_can_not_be_allowed() {
        let text =
            "[licenses]\nallow = [\"MITT\"]\n[bans]\ndeny = []\n[sources]\nallow-registry = []";
        let error = Policy::parse(text).err().unwrap();
        assert_eq!(error.to_string(), "`MITT` in `licenses.allow`");
    }
}

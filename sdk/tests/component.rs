//! A skill built for `wasm32-wasip2` is a component that exports the tools and imports
//! what it uses of the host, and no more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};

const TOOLS: &str = "prx:skill/tools@0.1.0";

struct Component {
    imports: BTreeSet<String>,
    exports: BTreeSet<String>,
    bytes: usize,
}

/// Builds one of `tests/modules` as a crate of its own, as an author would: with
/// `prx-skill` as its only dependency and this repository's lockfile.
fn build(name: &str) -> Result<Component> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("modules")
        .join(name);
    fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nprx-skill = {{ path = '{}' }}\n\n\
         [profile.release]\nopt-level = \"s\"\nlto = true\nstrip = true\npanic = \"abort\"\n\n\
         [workspace]\n",
        sdk.display(),
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(
        sdk.join("tests/modules").join(format!("{name}.rs")),
        folder.join("src/lib.rs"),
    )?;
    fs::copy(sdk.join("../Cargo.lock"), folder.join("Cargo.lock"))?;
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules/target");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip2"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        .status()
        .context("cargo does not start")?;
    ensure!(
        built.success(),
        "building `{name}` failed; is the target wasm32-wasip2 installed?"
    );
    let module = target
        .join("wasm32-wasip2/release")
        .join(name)
        .with_extension("wasm");
    read(&module)
}

fn read(module: &Path) -> Result<Component> {
    let bytes = fs::read(module).with_context(|| module.display().to_string())?;
    Validator::new_with_features(WasmFeatures::all()).validate_all(&bytes)?;
    let mut component = Component {
        imports: BTreeSet::new(),
        exports: BTreeSet::new(),
        bytes: bytes.len(),
    };
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    component.imports.insert(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    component.exports.insert(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(component)
}

impl Component {
    fn imports_of_the_host(&self) -> Vec<&str> {
        self.imports
            .iter()
            .map(String::as_str)
            .filter(|name| name.starts_with("prx:"))
            .collect()
    }
}

#[test]
fn the_smallest_skill_imports_nothing_of_the_host() -> Result<()> {
    let component = build("minimal")?;
    println!(
        "minimal: {} bytes, imports {:?}",
        component.bytes, component.imports
    );
    assert_eq!(component.exports, BTreeSet::from([TOOLS.to_owned()]));
    assert_eq!(component.imports_of_the_host(), [""; 0]);
    // Neither folders nor sockets nor clocks: only what the standard library needs to start
    // and to panic, and the seed of the schema generator's hash tables.
    let expected = ["wasi:cli/", "wasi:io/", "wasi:random/insecure-seed@"];
    let surprising = component
        .imports
        .iter()
        .filter(|name| !expected.iter().any(|prefix| name.starts_with(prefix)));
    assert_eq!(surprising.collect::<Vec<_>>(), [""; 0]);
    Ok(())
}

#[test]
fn a_skill_imports_each_interface_that_it_uses() -> Result<()> {
    let component = build("everything")?;
    println!(
        "everything: {} bytes, imports {:?}",
        component.bytes, component.imports
    );
    assert_eq!(component.exports, BTreeSet::from([TOOLS.to_owned()]));
    assert_eq!(
        component.imports_of_the_host(),
        [
            "prx:skill/config@0.1.0",
            "prx:skill/log@0.1.0",
            "prx:skill/progress@0.1.0",
            "prx:skill/state@0.1.0"
        ]
    );
    Ok(())
}

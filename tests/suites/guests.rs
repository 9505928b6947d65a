//! The test guests are what the suites take them for: skills of today's version, and
//! some commands, that import what they use and nothing more.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;
use prx_tests::{Parts, guest, guests, workspace};

const TOOLS: &str = "prx:skill/tools@0.1.0";

/// The guests that are commands.
const COMMANDS: [&str; 3] = ["command", "player", "sort"];

fn parts(behaviour: &str) -> Result<Parts> {
    Parts::read(&fs::read(guest(behaviour)?)?)
}

#[test]
fn each_example_is_a_module_of_its_name_and_nothing_else_is_there() -> Result<()> {
    let mut written = BTreeSet::new();
    for entry in fs::read_dir(workspace().join("tests/guests/examples"))? {
        let name = entry?.path().with_extension("wasm");
        written.extend(
            name.file_name()
                .map(|name| name.to_string_lossy().into_owned()),
        );
    }
    // Its source is a program of the suites, too.
    written.insert("player.wasm".to_owned());
    let mut built = BTreeSet::new();
    for entry in fs::read_dir(guests()?)? {
        built.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    assert_eq!(written, built);
    Ok(())
}

#[test]
fn each_guest_exports_tools_and_imports_only_what_a_host_offers() -> Result<()> {
    for entry in fs::read_dir(guests()?)? {
        let path = entry?.path();
        let parts = Parts::read(&fs::read(&path)?)?;
        assert!(parts.component, "{}", path.display());
        let is_command = |stem: &std::ffi::OsStr| COMMANDS.iter().any(|name| stem == *name);
        if path.file_stem().is_some_and(is_command) {
            let [run] = &parts.exports[..] else {
                panic!("{} exports {:?}", path.display(), parts.exports);
            };
            assert!(run.starts_with("wasi:cli/run@0.2."), "{run}");
        } else {
            assert_eq!(parts.exports, [TOOLS], "{}", path.display());
        }
        for import in &parts.imports {
            let offered = ["log", "config", "progress", "state"]
                .iter()
                .any(|name| *import == format!("prx:skill/{name}@0.1.0"));
            let wasi = import.starts_with("wasi:") && import.contains("@0.2.");
            assert!(offered || wasi, "{} imports `{import}`", path.display());
        }
    }
    Ok(())
}

#[test]
fn a_guest_imports_only_the_interfaces_of_the_host_that_it_uses() -> Result<()> {
    let none: [&str; 0] = [];
    for pure in [
        "echo",
        "trivial",
        "time",
        "memory",
        "files",
        "network",
        "instance_state",
    ] {
        assert_eq!(parts(pure)?.imports_of("prx:"), none, "{pure}");
    }
    assert_eq!(
        parts("state")?.imports_of("prx:"),
        ["prx:skill/state@0.1.0"]
    );
    assert_eq!(
        parts("config")?.imports_of("prx:"),
        ["prx:skill/config@0.1.0"]
    );
    assert_eq!(
        parts("log_progress")?
            .imports_of("prx:")
            .into_iter()
            .collect::<BTreeSet<_>>(),
        BTreeSet::from(["prx:skill/log@0.1.0", "prx:skill/progress@0.1.0"])
    );
    Ok(())
}

#[test]
fn only_the_guests_about_files_and_network_import_sockets_and_open_files() -> Result<()> {
    assert!(!parts("network")?.imports_of("wasi:sockets/tcp@").is_empty());
    assert!(
        !parts("raw_files")?
            .imports_of("wasi:filesystem/preopens@")
            .is_empty()
    );
    assert!(parts("trivial")?.imports_of("wasi:sockets/").is_empty());
    Ok(())
}

//! Kinds of files: what is no skill that this host can run is told apart by its kind,
//! in one line, before anything of it runs.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Result, ensure};
use prx_host::model::OutcomeKind;
use prx_tests::calls::{assert_healthy, broken, call};
use prx_tests::{Stage, fixtures, guest};
use serde_json::json;

/// What is said of each file of [`fixtures::not_skills`].
const SAID: [(&str, &str); 18] = [
    (
        "component_other_world",
        "a component of another world, neither a skill nor a command: \
         it exports `acme:db/query@1.0.0`",
    ),
    ("core_browser", "a core module"),
    (
        "core_reactor",
        "a core reactor module, neither a skill nor a command: \
         it exports `_initialize` and no `_start`",
    ),
    (
        "core_start_with_parameters",
        "its `_start` is `(i32, i32) -> ()`, and a command's is `() -> ()`",
    ),
    ("elf", "a native program (ELF)"),
    ("empty", "empty"),
    ("first_eight_bytes", "the file ends"),
    ("first_eight_bytes_of_component", "the file ends"),
    ("first_four_bytes", "the file ends"),
    ("gzip", "a gzip archive"),
    ("html_page", "an HTML page"),
    ("json", "text"),
    ("later_version", "version"),
    ("lfs_pointer", "a Git LFS pointer"),
    ("old_component", "version"),
    ("wat_text", "WebAssembly text"),
    ("wit_package", "a WIT package"),
    ("zip", "a zip archive"),
];

/// What is no skill, and serves all the same.
const COMMANDS: [&str; 2] = ["component_command", "core_command"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_file_that_is_no_skill_is_told_by_its_kind() -> Result<()> {
    let files = fixtures::not_skills()?;
    let mut stage = Stage::new()?;
    for file in &files {
        stage = stage.module(file.name, &file.bytes)?;
    }
    let host = stage.open().await?;
    let said = SAID.iter().map(|(name, _)| *name);
    let mut known: Vec<&str> = said.chain(COMMANDS).collect();
    known.sort_unstable();
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    assert_eq!(known, names);
    let mut wrong = Vec::new();
    for (name, said) in SAID {
        let reason = broken(&host, name)?;
        if !reason.contains(said) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    for command in COMMANDS {
        ensure!(
            broken(&host, command).is_err(),
            "{command} is said to be broken"
        );
    }
    assert!(
        host.snapshot()
            .broken()
            .iter()
            .all(|broken| broken.help.is_some())
    );
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skill_of_an_unknown_version_is_told_both_versions() -> Result<()> {
    let mut stage = Stage::new()?;
    let versions = ["0.1.1", "0.2.0", "1.0.0", "9.9.9", "0.1.0-rc.1"];
    for (number, version) in versions.iter().enumerate() {
        let stem = format!("version_{number}");
        stage = stage.module(&stem, &fixtures::skill_of_version(version)?)?;
    }
    let stage = stage.module("both", &fixtures::skill_of_two_versions("0.2.0")?)?;
    let host = stage.open().await?;
    for (number, version) in versions.iter().enumerate() {
        let reason = broken(&host, &format!("version_{number}"))?;
        for part in ["`prx:skill/tools`", version, "serves 0.1.0"] {
            ensure!(reason.contains(part), "{version}: {reason}");
        }
    }
    // It is served by the version that this host knows; made of nothing, it traps there.
    let reason = broken(&host, "both")?;
    ensure!(
        reason.contains("asking the module for its tools"),
        "{reason}"
    );
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_missing_import_is_named_with_what_is_offered() -> Result<()> {
    let stage = Stage::new()?
        .module("unknown", &fixtures::importing_unknown_interface()?)?
        .module("newer", &fixtures::importing_newer_log()?)?;
    let host = stage.open().await?;
    let reason = broken(&host, "unknown")?;
    ensure!(
        reason.contains("does not offer: `acme:db/query@1.0.0`"),
        "{reason}"
    );
    let reason = broken(&host, "newer")?;
    for part in ["`prx:skill/log`", "version 0.9.0", "offered: 0.1.0"] {
        ensure!(reason.contains(part), "{reason}");
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_world_of_every_version_links() -> Result<()> {
    let worlds = fixtures::every_world()?;
    let mut stage = Stage::new()?;
    for (number, (_, bytes)) in worlds.iter().enumerate() {
        stage = stage.module(&format!("world_{number}"), bytes)?;
    }
    let host = stage.open().await?;
    for (number, (name, _)) in worlds.iter().enumerate() {
        let reason = broken(&host, &format!("world_{number}"))?;
        let expected = if name.starts_with("skill@") {
            // Everything that it imports was linked, or it could not have begun.
            "asking the module for its tools failed"
        } else {
            "neither a skill nor a command"
        };
        ensure!(reason.contains(expected), "{name}: {reason}");
    }
    assert_healthy(&host).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truncated_module_never_serves() -> Result<()> {
    let handmade = fixtures::Handwritten::default().build()?;
    let built = fs::read(guest("state")?)?;
    let mut stage = Stage::new()?;
    let mut cut = Vec::new();
    for (origin, module) in [("handmade", &handmade), ("built", &built)] {
        for (number, (place, bytes)) in fixtures::truncations(module)?.into_iter().enumerate() {
            let stem = format!("{origin}_{number}");
            stage = stage.module(&stem, bytes)?;
            cut.push((stem, place, &module[bytes.len()..]));
        }
    }
    let host = stage.open().await?;
    let mut broken_ones = 0;
    for (stem, place, rest) in &cut {
        // Names and notes at the end may be missing without harm: the code is whole.
        if has_only_notes(rest) {
            continue;
        }
        let reason = broken(&host, stem)?;
        ensure!(
            !reason.contains("asking the module"),
            "{place} it ran: {reason}"
        );
        let outcome = call(&host, stem, json!({})).await;
        ensure!(
            outcome.kind() == OutcomeKind::Unavailable,
            "{place}: {outcome:?}"
        );
        broken_ones += 1;
    }
    assert!(broken_ones > 50 && broken_ones < cut.len(), "{broken_ones}");
    assert_healthy(&host).await
}

/// Whether the end of a component, from a border of sections on, is custom sections only.
fn has_only_notes(mut rest: &[u8]) -> bool {
    while let Some((&id, after)) = rest.split_first() {
        let length = after
            .iter()
            .position(|byte| byte & 0x80 == 0)
            .map_or(0, |last| last + 1);
        let size = after[..length]
            .iter()
            .rev()
            .fold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
        if id != 0 || length == 0 || length + size > after.len() {
            return false;
        }
        rest = &after[length + size..];
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_regular_file_in_the_folder_hurts_nobody() -> Result<()> {
    let stage = Stage::new()?;
    fs::create_dir(stage.path("modules/folder.wasm"))?;
    symlink("nowhere.wasm", stage.path("modules/dangling.wasm"))?;
    symlink("loop.wasm", stage.path("modules/loop.wasm"))?;
    symlink("echo.wasm", stage.path("modules/good_link.wasm"))?;
    fs::copy(guest("echo")?, stage.path("outside.wasm"))?;
    symlink("../outside.wasm", stage.path("modules/leading_out.wasm"))?;
    for name in [
        ".hidden.wasm",
        "echo.wasm~",
        ".echo.wasm.swp",
        "notes.txt",
        "4913",
    ] {
        fs::write(stage.path("modules").join(name), "nothing of the kind")?;
    }
    let host = stage.open().await?;
    for (name, said) in [
        ("dangling", "a link that leads nowhere"),
        ("loop", "in a circle"),
        ("leading_out", "leads out"),
    ] {
        let reason = broken(&host, name)?;
        ensure!(reason.contains(said), "{name}: {reason}");
    }
    assert_eq!(
        host.snapshot().broken().len(),
        3,
        "{:?}",
        host.snapshot().broken()
    );
    let outcome = call(&host, "good_link", json!({ "a": 1 })).await;
    ensure!(outcome.ok().is_some(), "{outcome:?}");
    assert_healthy(&host).await
}

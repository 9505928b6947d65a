//! `prx-host install`: what is installed, under which name, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, Result};
use prx_tests::fixtures::{Handwritten, not_skills, skill_of_version, truncations};
use prx_tests::guest;

use crate::place::Place;

/// The path of a guest, as an argument.
fn path(name: &str) -> Result<String> {
    Ok(guest(name)?.display().to_string())
}

#[test]
fn a_module_is_installed_and_called() -> Result<()> {
    let place = Place::new("")?;
    fs::copy(guest("echo")?, place.path("echo.wasm"))?;
    place.run(&["inspect", "./echo.wasm"])?;
    let ran = place.run(&["install", "echo.wasm"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    place.snapshot("install", &ran);
    assert_eq!(place.modules()?, ["echo.wasm"]);
    assert_eq!(
        fs::read(place.module("echo"))?,
        fs::read(guest("echo")?)?,
        "the copy differs"
    );
    let called = place.run(&["call", "echo", r#"{"a":1}"#])?;
    assert_eq!(called.stdout(), "{\"a\":1}\n", "{}", called.text());
    Ok(())
}

#[test]
fn another_name_is_the_name_of_the_tools() -> Result<()> {
    let place = Place::new("")?;
    let ran = place.run(&["install", &path("hints")?, "--name", "what-if"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.modules()?, ["what-if.wasm"]);
    let called = place.run(&["call", "what-if_silent"])?;
    assert_eq!(called.code(), 0, "{}", called.text());
    Ok(())
}

#[test]
fn a_command_is_a_module_too() -> Result<()> {
    let place = Place::new("")?;
    let ran = place.run(&["install", &path("sort")?])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert!(ran.stdout().contains("WASI command"), "{}", ran.text());
    assert!(
        ran.stdout().contains("`sort` can be called"),
        "{}",
        ran.text()
    );
    assert_eq!(place.modules()?, ["sort.wasm"]);
    Ok(())
}

#[test]
fn what_can_not_run_is_refused_with_its_fault() -> Result<()> {
    let place = Place::new("")?;
    let mut files: Vec<(String, Vec<u8>)> = not_skills()?
        .into_iter()
        .filter(|file| !file.name.ends_with("_command"))
        .map(|file| (file.name.to_owned(), file.bytes))
        .collect();
    files.push(("later".into(), skill_of_version("9.9.9")?));
    let whole = Handwritten::default().build()?;
    let (_, half) = truncations(&whole)?.pop().context("no truncation")?;
    files.push(("half".into(), half.to_vec()));
    for (name, bytes) in files {
        let file = place.path(&format!("{name}.wasm"));
        fs::write(&file, bytes)?;
        let file = file.display().to_string();
        let inspected = place.run(&["inspect", &file])?;
        let cause = inspected
            .stdout()
            .lines()
            .find_map(|line| line.strip_prefix("  cause: ").map(str::to_owned))
            .with_context(|| inspected.text())?;
        let ran = place.run(&["install", &file, "--yes", "--replace"])?;
        assert_eq!(ran.code(), 2, "{name}: {}", ran.text());
        assert!(ran.stderr().contains(&cause), "{name}: {}", ran.text());
        assert_eq!(ran.stdout(), "", "{name}");
    }
    for (missing, said) in [("none.wasm", "does not exist"), (".", "it is a folder")] {
        let ran = place.run(&["install", missing, "--name", "x"])?;
        assert_eq!(ran.code(), 2, "{}", ran.text());
        assert!(ran.stderr().contains(said), "{}", ran.text());
    }
    assert_eq!(place.modules()?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_refusal_says_fault_and_remedy() -> Result<()> {
    let place = Place::new("")?;
    fs::write(place.path("later.wasm"), skill_of_version("9.9.9")?)?;
    place.snapshot("install_refused", &place.run(&["install", "later.wasm"])?);
    Ok(())
}

#[test]
fn only_names_that_tools_can_have_are_accepted() -> Result<()> {
    let place = Place::new("")?;
    let module = Handwritten::default().build()?;
    fs::write(place.path("my skill-1.0.wasm"), &module)?;
    let ran = place.run(&["install", "my skill-1.0.wasm"])?;
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("`--name my_skill-1_0`"),
        "{}",
        ran.text()
    );
    let long = "n".repeat(65);
    for name in [
        "", ".", "..", "../x", "/x", "a/b", "a.b", "a b", "a\nb", "é", &long,
    ] {
        let ran = place.run(&["install", "my skill-1.0.wasm", "--name", name])?;
        assert_eq!(ran.code(), 2, "{name:?}: {}", ran.text());
        assert!(
            ran.stderr().contains("can not be a tool's name"),
            "{name:?}: {}",
            ran.text()
        );
    }
    assert_eq!(place.modules()?, Vec::<String>::new());
    // The name of a tool is longer than that of its module.
    let name = &long[..60];
    let ran = place.run(&["install", &path("hints")?, "--name", name])?;
    assert_eq!(ran.code(), 2, "{}", ran.text());
    assert!(ran.stderr().contains("at most 64"), "{}", ran.text());
    assert_eq!(place.modules()?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_name_that_something_else_has_is_refused() -> Result<()> {
    let place = Place::with_guests(
        &["hints"],
        "[tools.custom.lint]\ntype = \"native\"\ncommand = \"true\"\n\
         [tools.custom.other]\nmodule = \"gone.wasm\"\n\
         [tools.shell]\nenabled = true\n",
    )?;
    fs::create_dir(place.path("modules/own"))?;
    fs::write(place.path("modules/own/skill.wasm"), "")?;
    fs::create_dir(place.path("modules/folder.wasm"))?;
    fs::write(place.path("answer.wasm"), Handwritten::default().build()?)?;
    let before = place.modules()?;
    for (name, by) in [
        ("hints_silent", "hints.wasm`"),
        ("lint", "`[tools.custom.lint]`"),
        ("other", "`[tools.custom.other]`"),
        ("shell", "`[tools.shell]`"),
        ("own", "modules/own/skill.wasm`"),
        ("folder", "modules/folder.wasm`, which is no file"),
    ] {
        let ran = place.run(&[
            "install",
            "answer.wasm",
            "--name",
            name,
            "--yes",
            "--replace",
        ])?;
        assert_eq!(ran.code(), 2, "{name}: {}", ran.text());
        let said = ran.stderr();
        assert!(
            said.contains("is taken by") && said.contains(by) && said.contains("`--name`"),
            "{name}: {}",
            ran.text()
        );
    }
    assert_eq!(place.modules()?, before);
    Ok(())
}

#[test]
fn another_module_is_replaced_only_when_it_is_said_twice() -> Result<()> {
    let place = Place::new("")?;
    let old = Handwritten::default().build()?;
    place.add("x", &old)?;
    let new = path("echo")?;
    let words: [&[&str]; 3] = [&[], &["--yes"], &["--replace"]];
    for more in words {
        let arguments = [&["install", &new, "--name", "x"], more].concat();
        let ran = place.run(&arguments)?;
        assert_eq!(ran.code(), 2, "{more:?}: {}", ran.text());
        let said = ran.stderr();
        assert!(
            said.contains("modules/x.wasm` would be replaced")
                && said.contains("which serves `x`")
                && said.contains("`--yes --replace`"),
            "{}",
            ran.text()
        );
        assert_eq!(fs::read(place.module("x"))?, old);
    }
    let ran = place.run(&["install", &new, "--name", "x", "--yes", "--replace"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.modules()?, ["x.wasm"]);
    let called = place.run(&["call", "x", "{}"])?;
    assert_eq!(called.stdout(), "{}\n", "{}", called.text());
    Ok(())
}

#[test]
fn a_broken_module_is_replaced_like_any_other() -> Result<()> {
    let place = Place::new("[tools.custom.page]\ntimeout_secs = 5\n")?;
    place.add("page", b"<!DOCTYPE html>")?;
    let ran = place.run(&[
        "install",
        &path("echo")?,
        "--name",
        "page",
        "--yes",
        "--replace",
    ])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.run(&["call", "page", "{}"])?.code(), 0);
    Ok(())
}

#[test]
fn what_is_installed_already_stays_as_it_is() -> Result<()> {
    let place = Place::with_guests(&["echo"], "[runtime.wasm.capabilities]\nnetwork = true\n")?;
    let before = fs::metadata(place.module("echo"))?.modified()?;
    // Also where it would be granted something: it is already.
    let ran = place.run(&["install", &path("echo")?])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert!(
        ran.stdout().contains("is installed already"),
        "{}",
        ran.text()
    );
    assert_eq!(fs::metadata(place.module("echo"))?.modified()?, before);
    let json = place
        .run(&["install", "modules/echo.wasm", "--json"])?
        .json()?;
    assert_eq!(json["result"], "unchanged");
    Ok(())
}

#[test]
fn a_missing_folder_is_made_for_its_owner_alone() -> Result<()> {
    let place = Place::new("")?;
    fs::remove_dir(place.path("modules"))?;
    let echo = path("echo")?;
    let ran = place.run(&["install", &echo, "--dry-run"])?;
    assert!(
        ran.stdout().contains("(the folder will be made)"),
        "{}",
        ran.text()
    );
    assert!(!place.path("modules").exists());
    let ran = place.run(&["install", &echo])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    let mode = fs::metadata(place.path("modules"))?.permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(place.modules()?, ["echo.wasm"]);
    Ok(())
}

#[test]
fn a_program_reads_everything_from_json() -> Result<()> {
    let place = Place::new("[runtime.wasm.capabilities]\nmax_state_kb = 1\n")?;
    fs::copy(guest("hints")?, place.path("hints.wasm"))?;
    let arguments = ["install", "hints.wasm", "--yes", "--json"];
    let ran = place.run(&arguments)?;
    place.snapshot("install_json", &ran);
    assert_eq!(ran.json()?["result"], "installed");
    let replaced = ["install", &path("echo")?, "--name", "hints", "--json"];
    let refused = place.run(&replaced)?.json()?;
    assert_eq!(refused["error"]["exit_code"], 2);
    let plan = &refused["error"]["plan"];
    assert_eq!(plan["needs"], serde_json::json!(["--yes", "--replace"]));
    assert_eq!(plan["replaces"]["tools"][0], "hints_asking");
    Ok(())
}

//! `prx-host remove`: which file goes, what goes with it, and what stays.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::Result;
use prx_tests::fixtures::Handwritten;
use prx_tests::guest;

use crate::place::Place;
use crate::terminal::at_terminal_typing;

#[test]
fn each_name_of_a_module_finds_it() -> Result<()> {
    let place = Place::new(
        "[tools.custom.asked]\nmodule = \"./hints.wasm\"\n\
         [tools.custom.off]\nenabled = false\nmodule = \"hints.wasm\"\n",
    )?;
    let hints = guest("hints")?;
    // A tool, an entry, one that is switched off, a file stem, a file.
    for name in ["asked_silent", "asked", "off", "hints", "hints.wasm"] {
        fs::copy(&hints, place.module("hints"))?;
        let ran = place.run(&["remove", name, "--yes"])?;
        assert_eq!(ran.code(), 0, "{name}: {}", ran.text());
        assert!(
            ran.stdout()
                .contains("`asked_asking`, `asked_harmful`, `asked_harmless`, `asked_silent`"),
            "{name}: {}",
            ran.text()
        );
        assert_eq!(place.modules()?, Vec::<String>::new());
    }
    Ok(())
}

#[test]
fn what_goes_and_what_stays_is_shown() -> Result<()> {
    let place = Place::with_guests(
        &["state"],
        "[tools.custom.state]\ntimeout_secs = 9\n\
         [tools.custom.state.capabilities]\nmax_state_kb = 1\n\
         [tools.custom.again]\nmodule = \"state.wasm\"\n",
    )?;
    let kept = place.run(&["call", "state_set", r#"{"key":"a","value":"b"}"#])?;
    assert_eq!(kept.code(), 0, "{}", kept.text());
    let refused = place.run(&["remove", "state_get"])?;
    assert_eq!(refused.code(), 2);
    place.snapshot("remove_unagreed", &refused);
    assert_eq!(place.modules()?, ["state.wasm"]);
    let ran = place.run(&["remove", "state_get", "--yes", "--json"])?;
    assert_eq!(ran.code(), 0);
    place.snapshot("remove_json", &ran);
    assert_eq!(place.modules()?, Vec::<String>::new());
    assert!(place.path("state/state.sqlite3").exists());
    Ok(())
}

#[test]
fn a_broken_module_is_removed_like_any_other() -> Result<()> {
    let place = Place::new("")?;
    for name in ["page", "not a name.wasm"] {
        place.add(name.trim_end_matches(".wasm"), b"<!DOCTYPE html>")?;
        let ran = place.run(&["remove", name, "--yes"])?;
        assert_eq!(ran.code(), 0, "{}", ran.text());
        assert!(ran.stdout().contains("it is broken: "), "{}", ran.text());
        assert_eq!(place.modules()?, Vec::<String>::new());
    }
    Ok(())
}

#[test]
fn a_file_whose_name_a_command_has_is_found_by_its_ending() -> Result<()> {
    let place = Place::new("[tools.custom.lint]\ntype = \"native\"\ncommand = \"true\"\n")?;
    place.add("lint", &Handwritten::default().build()?)?;
    assert_eq!(place.run(&["remove", "lint", "--yes"])?.code(), 2);
    let ran = place.run(&["remove", "lint.wasm", "--yes"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.modules()?, Vec::<String>::new());
    Ok(())
}

#[test]
fn what_is_no_module_of_the_folder_is_refused_with_what_to_do() -> Result<()> {
    let place = Place::new(
        "[tools.custom.lint]\ntype = \"native\"\ncommand = \"true\"\n\
         [tools.custom.broken]\ntype = \"docker\"\ncommand = \"true\"\nenabled = false\n\
         [tools.custom.gone]\n\
         [tools.custom.up]\nmodule = \"../up.wasm\"\n\
         [tools.shell]\nenabled = true\n",
    )?;
    let outside = place.path("outside.wasm");
    fs::write(&outside, Handwritten::default().build()?)?;
    fs::write(place.path("up.wasm"), Handwritten::default().build()?)?;
    fs::create_dir(place.path("modules/folder.wasm"))?;
    let config = place.path("config.toml");
    let text = fs::read_to_string(&config)?;
    let entry = format!(
        "[tools.custom.away]\nmodule = {:?}\n",
        outside.display().to_string()
    );
    fs::write(&config, text + &entry)?;
    for (name, why, help) in [
        ("lint", "is no module", "under `[tools.custom.lint]` ("),
        ("broken", "is no module", "under `[tools.custom.broken]` ("),
        ("shell", "is no module", "under `[tools.shell]`"),
        ("away", "lies outside", "under `[tools.custom.away]` ("),
        ("up", "lies outside", "under `[tools.custom.up]` ("),
        ("gone", "there is no file", "remove the entry"),
        ("folder", "is no file", ""),
        (
            "outside.wasm",
            "there is no tool, entry or module",
            "prx-host list",
        ),
        ("../up.wasm", "there is no tool, entry or module", ""),
        ("/etc/passwd", "there is no tool, entry or module", ""),
        (
            "awai",
            "there is no tool, entry or module",
            "did you mean `away`?",
        ),
    ] {
        let ran = place.run(&["remove", name, "--yes"])?;
        assert_eq!(ran.code(), 2, "{name}: {}", ran.text());
        assert!(
            ran.stderr().contains(why) && ran.stderr().contains(help),
            "{name}: {}",
            ran.text()
        );
    }
    assert!(outside.exists() && place.path("up.wasm").exists());
    Ok(())
}

#[test]
fn a_link_goes_and_what_it_leads_to_stays() -> Result<()> {
    let place = Place::new("")?;
    fs::write(place.path("far.wasm"), Handwritten::default().build()?)?;
    symlink("../far.wasm", place.module("near"))?;
    let ran = place.run(&["remove", "near", "--yes"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert!(
        ran.stdout().contains("it is a link; `../far.wasm` stays"),
        "{}",
        ran.text()
    );
    assert_eq!(place.modules()?, Vec::<String>::new());
    assert!(place.path("far.wasm").exists());
    Ok(())
}

#[test]
fn a_folder_that_leads_away_is_not_entered() -> Result<()> {
    let place = Place::new("[tools.custom.x]\nmodule = \"away/skill.wasm\"\n")?;
    fs::create_dir(place.path("elsewhere"))?;
    let file = place.path("elsewhere/skill.wasm");
    fs::write(&file, Handwritten::default().build()?)?;
    symlink("../elsewhere", place.path("modules/away"))?;
    let ran = place.run(&["remove", "x", "--yes"])?;
    assert_eq!(ran.code(), 5, "{}", ran.text());
    assert!(file.exists());
    Ok(())
}

#[test]
fn a_skill_in_a_folder_of_its_own_leaves_what_is_beside_it() -> Result<()> {
    let place = Place::new("")?;
    fs::create_dir(place.path("modules/maps"))?;
    fs::write(
        place.path("modules/maps/skill.wasm"),
        Handwritten::default().build()?,
    )?;
    fs::write(place.path("modules/maps/world.json"), "{}")?;
    let ran = place.run(&["remove", "maps", "--yes"])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert!(
        ran.stdout()
            .contains("what lies beside it stays: `world.json`"),
        "{}",
        ran.text()
    );
    assert!(!place.path("modules/maps/skill.wasm").exists());
    assert!(place.path("modules/maps/world.json").exists());
    Ok(())
}

#[test]
fn a_person_at_a_terminal_is_asked() -> Result<()> {
    let place = Place::with_guests(&["echo"], "")?;
    let (code, seen) = at_terminal_typing(&place, &["remove", "echo"], "n\n")?;
    assert_eq!(code, Some(3), "{seen}");
    assert!(
        seen.contains("echo.wasm`? [y/N] ") && seen.contains("nothing was removed"),
        "{seen}"
    );
    assert_eq!(place.modules()?, ["echo.wasm"]);
    let (code, seen) = at_terminal_typing(&place, &["remove", "echo"], "y\n")?;
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(place.modules()?, Vec::<String>::new());
    Ok(())
}

//! `prx-host inspect`.

use anyhow::Result;
use prx_tests::fixtures::{Handwritten, importing_newer_log, not_skills};

use crate::place::Place;

#[test]
fn a_file_shows_what_it_is_and_offers() -> Result<()> {
    let place = Place::new("")?;
    std::fs::write(place.path("some.wasm"), Handwritten::default().build()?)?;
    place.snapshot("inspect_file", &place.run_warm(&["inspect", "some.wasm"])?);
    Ok(())
}

#[test]
fn a_tool_shows_requests_against_grants_and_where_they_come_from() -> Result<()> {
    let place = Place::with_guests(
        &["hints"],
        "[tools.custom.hints]\ntimeout_secs = 3\n\
         [tools.custom.hints.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\nnetwork = true\n",
    )?;
    let ran = place.run_warm(&["inspect", "hints"])?;
    assert_eq!(ran.code(), 0);
    place.snapshot("inspect_tool", &ran);
    let json = place.run(&["inspect", "hints", "--json"])?.json()?;
    assert!(
        json["requests"]
            .as_array()
            .is_some_and(|asked| !asked.is_empty()),
        "{json}"
    );
    assert_eq!(json["tools"][0]["limits"]["timeout_ms"]["value"], 3000.0);
    Ok(())
}

#[test]
fn a_file_that_can_not_serve_shows_why_and_what_could_be_read() -> Result<()> {
    let place = Place::new("")?;
    std::fs::write(place.path("log.wasm"), importing_newer_log()?)?;
    let ran = place.run(&["inspect", "./log.wasm"])?;
    assert_eq!(ran.code(), 1);
    place.snapshot("inspect_missing_import", &ran);
    Ok(())
}

#[test]
fn each_kind_of_file_that_is_no_skill_is_named() -> Result<()> {
    let place = Place::new("")?;
    for file in not_skills()? {
        let path = place.path(&format!("{}.wasm", file.name));
        std::fs::write(&path, &file.bytes)?;
        let ran = place.run(&["inspect", &path.display().to_string()])?;
        let serves = match file.name {
            "core_command" => Some("WASI command, core (0.1)"),
            "component_command" => Some("WASI command, component (0.2."),
            _ => None,
        };
        if let Some(kind) = serves {
            assert_eq!(ran.code(), 0, "{}: {}", file.name, ran.text());
            assert!(ran.stdout().contains(kind), "{}", ran.text());
            assert!(!ran.stdout().contains("MISSING"), "{}", ran.text());
            continue;
        }
        assert_eq!(ran.code(), 1, "{}: {}", file.name, ran.text());
        assert!(
            ran.stdout()
                .contains("error: this file can not serve\n  cause: "),
            "{}",
            ran.text()
        );
    }
    Ok(())
}

#[test]
fn a_broken_entry_is_looked_at_as_a_file() -> Result<()> {
    let place = Place::new("")?;
    place.add("page", b"<!DOCTYPE html>")?;
    let ran = place.run(&["inspect", "page"])?;
    assert_eq!(ran.code(), 1);
    assert!(ran.stdout().contains("an HTML page"), "{}", ran.text());
    Ok(())
}

#[test]
fn an_unknown_name_is_told_with_the_nearest() -> Result<()> {
    let place = Place::new("")?;
    place.add("answer", &Handwritten::default().build()?)?;
    let ran = place.run(&["inspect", "anwser"])?;
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("did you mean `answer`?"),
        "{}",
        ran.text()
    );
    let gone = place.run(&["inspect", "./gone.wasm"])?;
    assert_eq!(gone.code(), 1);
    assert!(gone.stdout().contains("can not be read"), "{}", gone.text());
    Ok(())
}

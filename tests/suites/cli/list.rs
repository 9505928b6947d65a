//! `prx-host list`.

use std::process::Stdio;

use anyhow::Result;
use prx_tests::fixtures::Handwritten;

use crate::place::Place;

fn mixed() -> Result<Place> {
    let place = Place::new(
        "[tools.custom.docs]\nmodule = \"answer.wasm\"\n\
         [tools.custom.docs.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\nmax_state_kb = 64\n\
         [tools.custom.lint]\ntype = \"native\"\ncommand = \"ruff\"\n",
    )?;
    let skill = Handwritten::default().build()?;
    place.add("answer", &skill)?;
    place.add("second", &skill)?;
    place.add("empty", b"")?;
    place.add("a page", b"<!DOCTYPE html><title>404</title>")?;
    Ok(place)
}

#[test]
fn it_shows_what_is_ready_what_waits_and_what_is_broken() -> Result<()> {
    let place = mixed()?;
    place.snapshot("list", &place.run_warm(&["list"])?);
    Ok(())
}

#[test]
fn as_json_it_is_one_array_with_schemas_and_reasons() -> Result<()> {
    let ran = mixed()?.run(&["list", "--json"])?;
    assert_eq!((ran.code(), ran.stderr()), (0, String::new()));
    let all = ran.json()?;
    let state = |name: &str| {
        let all = all.as_array().expect("an array");
        all.iter()
            .find(|one| one["tool"] == name)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(state("second")["state"], "ready");
    assert_eq!(state("second")["input_schema"]["type"], "object");
    assert_eq!(state("docs")["state"], "folder_missing");
    assert_eq!(state("docs")["grants"]["state_bytes"], 65536);
    assert_eq!(state("empty")["state"], "broken");
    assert!(
        state("empty")["reason"]
            .as_str()
            .is_some_and(|text| text.contains("empty"))
    );
    Ok(())
}

#[test]
fn without_tools_it_says_where_to_put_them() -> Result<()> {
    let place = Place::new("")?;
    place.snapshot("list_without_tools", &place.run(&["list"])?);
    Ok(())
}

#[test]
fn a_reader_that_has_gone_is_no_failure() -> Result<()> {
    let place = mixed()?;
    place.run(&["list"])?;
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let output = place
        .command()?
        .arg("list")
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()?;
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Ok(())
}

#[test]
fn output_that_can_not_be_written_is_a_failure() -> Result<()> {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
    let output = mixed()?
        .command()?
        .arg("list")
        .stdout(full)
        .stderr(Stdio::piped())
        .output()?;
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output can not be written"));
    Ok(())
}

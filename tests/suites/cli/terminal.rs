//! The program at a terminal: a guest can not drive it, and bytes are not thrown at it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use anyhow::Result;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::place::Place;

/// Escape sequences that no part of the program itself writes.
const CLEAR: &str = "\u{1b}[2J";

/// Runs the program with all its streams at a terminal; everything that arrived there.
fn at_terminal(place: &Place, arguments: &[&str]) -> Result<(Option<i32>, String)> {
    at_terminal_typing(place, arguments, "")
}

/// The same, where somebody has typed something already.
pub fn at_terminal_typing(
    place: &Place,
    arguments: &[&str],
    typed: &str,
) -> Result<(Option<i32>, String)> {
    let (mut child, mut master) = start_at_terminal(place, arguments)?;
    master.write_all(typed.as_bytes())?;
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    // A terminal whose other side is closed gives an error instead of an end.
    while let Ok(count) = master.read(&mut part) {
        if count == 0 {
            break;
        }
        seen.extend_from_slice(&part[..count]);
    }
    Ok((
        child.wait()?.code(),
        String::from_utf8_lossy(&seen).into_owned(),
    ))
}

/// Starts the program with all its streams at a terminal; what arrives there can be read.
pub fn start_at_terminal(place: &Place, arguments: &[&str]) -> Result<(Child, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = || {
        File::options()
            .read(true)
            .write(true)
            .open(name.to_string_lossy().as_ref())
    };
    let mut command = place.command()?;
    command.env("TERM", "xterm").args(arguments);
    command
        .stdin(Stdio::from(slave()?))
        .stdout(slave()?)
        .stderr(slave()?);
    let child = command.spawn()?;
    // The last copies of the terminal's other side: with them open it would never end.
    drop(command);
    Ok((child, File::from(master)))
}

#[test]
fn a_guest_can_not_drive_the_terminal() -> Result<()> {
    let place = Place::with_guests(&["crashes", "errors"], "")?;
    place.run(&["list"])?;
    for arguments in [
        &["call", "crashes_panic", r#"{"message":"\u001b[2Jgone"}"#][..],
        &[
            "call",
            "errors_fail",
            r#"{"kind":"failed","message":"\u001b[2Jgone"}"#,
        ],
    ] {
        let (code, seen) = at_terminal(&place, arguments)?;
        assert_eq!(code, Some(1), "{seen}");
        assert!(
            !seen.contains(CLEAR) && seen.contains("\\u{1b}[2Jgone"),
            "{seen:?}"
        );
        // What is no terminal gets what the guest wrote.
        assert!(place.run(arguments)?.stderr().contains(CLEAR));
    }
    Ok(())
}

#[test]
fn bytes_are_described_and_tables_have_lines() -> Result<()> {
    let place = Place::with_guests(&["contents"], "")?;
    place.run(&["list"])?;
    let (code, seen) = at_terminal(&place, &["call", "contents_image"])?;
    assert_eq!(code, Some(0));
    assert!(
        seen.contains("(image/png, 67 B: not shown; save it with `--output PATH`)"),
        "{seen}"
    );
    assert!(!seen.contains("IHDR"), "{seen:?}");
    let (_, seen) = at_terminal(&place, &["list"])?;
    assert!(
        seen.contains("contents_image") && seen.contains('\u{2502}'),
        "{seen}"
    );
    Ok(())
}

#[test]
fn errors_have_colours_unless_they_are_unwanted() -> Result<()> {
    let place = Place::with_guests(&["echo"], "")?;
    let (_, seen) = at_terminal(&place, &["call", "nothing"])?;
    assert!(
        seen.contains("\u{1b}[31;1merror:") || seen.contains("\u{1b}[1;31merror:"),
        "{seen:?}"
    );
    let (_, seen) = at_terminal(&place, &["call", "nothing", "--color", "never", "-q"])?;
    assert!(
        !seen.contains("\u{1b}[1;31m") && !seen.contains("\u{1b}[31"),
        "{seen:?}"
    );
    Ok(())
}

//! `prx-host install`: the folder of modules has the old file or the whole new one, and
//! never anything else, whatever happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use anyhow::Result;
use prx_tests::fixtures::Handwritten;
use prx_tests::{guest, program};

use crate::place::{Place, Ran};

fn path(name: &str) -> Result<String> {
    Ok(guest(name)?.display().to_string())
}

#[test]
fn a_link_is_replaced_and_not_followed() -> Result<()> {
    let place = Place::new("")?;
    fs::write(place.path("victim"), "precious")?;
    let echo = path("echo")?;
    for (name, target) in [
        ("out", "../victim"),
        ("absolute", "/etc/hostname"),
        ("dangling", "../not-there"),
        ("within", "other.wasm"),
    ] {
        place.add("other", &Handwritten::default().build()?)?;
        symlink(target, place.module(name))?;
        let refused = place.run(&["install", &echo, "--name", name, "--yes"])?;
        assert_eq!(refused.code(), 2, "{name}: {}", refused.text());
        assert!(
            refused.stderr().contains(&format!("a link to `{target}`")),
            "{name}: {}",
            refused.text()
        );
        let ran = place.run(&["install", &echo, "--name", name, "--yes", "--replace"])?;
        assert_eq!(ran.code(), 0, "{name}: {}", ran.text());
        assert!(fs::symlink_metadata(place.module(name))?.is_file());
    }
    assert_eq!(fs::read_to_string(place.path("victim"))?, "precious");
    assert!(!place.path("not-there").exists());
    assert_eq!(
        fs::read(place.module("other"))?,
        Handwritten::default().build()?
    );
    assert_eq!(
        place.modules()?,
        [
            "absolute.wasm",
            "dangling.wasm",
            "other.wasm",
            "out.wasm",
            "within.wasm"
        ]
    );
    Ok(())
}

/// Runs the program where `modules` is a file system of its own, and lists it after that.
fn on_own_disk(place: &Place, prepare: &str, arguments: &[&str]) -> Result<Ran> {
    let script = format!(
        "set -e\nmount -t tmpfs -o size=32k none modules\n{prepare}\nset +e\n\
         \"$@\"\ncode=$?\necho; echo in the folder: $(ls -A modules)\n\
         cat modules/old.wasm 2>/dev/null | wc -c\nexit $code"
    );
    let inner = place.command()?;
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", &script, "sh"])
        .arg(program()?)
        .args(inner.get_args())
        .args(arguments)
        .env_clear()
        .env("HOME", place.path(""))
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .current_dir(place.path(""));
    Ok(Ran::of(command.output()?))
}

#[test]
fn nothing_is_left_on_a_full_disk() -> Result<()> {
    let place = Place::new("")?;
    let old = Handwritten::default().build()?;
    fs::write(place.path("old"), &old)?;
    let echo = path("echo")?;
    assert!(fs::metadata(&echo)?.len() > 32 << 10, "the guest would fit");
    for name in ["new", "old"] {
        let arguments = ["install", &echo, "--name", name, "--yes", "--replace"];
        let ran = on_own_disk(&place, "cp old modules/old.wasm", &arguments)?;
        assert_eq!(ran.code(), 5, "{}", ran.text());
        assert!(
            ran.stderr().contains("No space left on device")
                && ran.stderr().contains("help: make room there"),
            "{}",
            ran.text()
        );
        let left = format!("in the folder: old.wasm\n{}\n", old.len());
        assert!(ran.stdout().ends_with(&left), "{}", ran.text());
    }
    Ok(())
}

#[test]
fn a_folder_that_can_not_be_written_says_so() -> Result<()> {
    let place = Place::new("")?;
    let old = Handwritten::default().build()?;
    fs::write(place.path("old"), &old)?;
    let prepare = "cp old modules/old.wasm\nmount -o remount,ro modules";
    let left = format!("in the folder: old.wasm\n{}\n", old.len());
    let echo = path("echo")?;
    for arguments in [
        &["install", &echo, "--name", "old", "--yes", "--replace"][..],
        &["install", &echo],
        &["remove", "old", "--yes"],
    ] {
        let ran = on_own_disk(&place, prepare, arguments)?;
        assert_eq!(ran.code(), 5, "{}", ran.text());
        assert!(
            ran.stderr().contains("Read-only file system")
                && ran.stderr().contains("help: make the folder writable"),
            "{}",
            ran.text()
        );
        assert!(ran.stdout().ends_with(&left), "{}", ran.text());
    }
    Ok(())
}

#[test]
fn what_a_killed_installation_left_goes_with_the_next_one() -> Result<()> {
    let place = Place::new("")?;
    fs::write(place.path("modules/.old.wasm.0123456789abcdef.tmp"), "half")?;
    fs::write(place.path("modules/.somebody.tmp"), "else's")?;
    let ran = place.run(&["install", &path("echo")?])?;
    assert_eq!(ran.code(), 0, "{}", ran.text());
    assert_eq!(place.modules()?, [".somebody.tmp", "echo.wasm"]);
    Ok(())
}

#[test]
fn of_many_at_once_one_installs_and_all_see_whole_files() -> Result<()> {
    let place = Place::new("")?;
    let (echo, hints) = (path("echo")?, path("hints")?);
    for module in [&echo, &hints] {
        place.run(&["inspect", module])?;
    }
    let mut children = Vec::new();
    for number in 0..6 {
        let module = if number % 2 == 0 { &echo } else { &hints };
        let mut command = place.command()?;
        command.args(["install", module, "--name", "x"]);
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped());
        children.push(command.spawn()?);
    }
    let mut codes = Vec::new();
    for child in children {
        let ran = Ran::of(child.wait_with_output()?);
        // Who found another module there, before or while writing, was refused.
        assert!([0, 2].contains(&ran.code()), "{}", ran.text());
        codes.push(ran.code());
    }
    assert!(codes.contains(&0), "{codes:?}");
    assert_eq!(place.modules()?, ["x.wasm"]);
    let installed = fs::read(place.module("x"))?;
    assert!(installed == fs::read(&echo)? || installed == fs::read(&hints)?);
    Ok(())
}

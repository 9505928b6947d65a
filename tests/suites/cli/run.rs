//! `prx-host run` and `prx-host doctor`.

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, Ran};

fn native() -> Result<Place> {
    Place::new("[runtime]\nbackend = \"native\"\nworkspace = \".\"\n")
}

#[test]
fn output_and_exit_code_are_those_of_the_command() -> Result<()> {
    let ran = native()?.run(&["run", "--", "echo out; echo err >&2; exit 7"])?;
    assert_eq!(
        (ran.code(), ran.stdout(), ran.stderr()),
        (7, "out\n".into(), "err\n".into())
    );
    let direct = native()?.run(&["run", "--", "printf", "<%s>", "a b", "$HOME", "-n"])?;
    assert_eq!(
        (direct.code(), direct.stdout()),
        (0, "<a b><$HOME><-n>".into())
    );
    let killed = native()?.run(&["run", "--", "kill -TERM $$"])?;
    assert_eq!(killed.code(), 128 + 15, "{}", killed.text());
    Ok(())
}

#[test]
fn as_json_it_is_one_value_that_says_how_the_command_ended() -> Result<()> {
    let ran = native()?.run(&["run", "--json", "--", "echo out; exit 7"])?;
    let json = ran.json()?;
    assert_eq!(ran.code(), 7);
    assert_eq!(json["backend"], "native");
    assert_eq!(json["ending"], "exited");
    assert_eq!(json["exit_code"], 7);
    assert_eq!(json["stdout"], "out\n");
    let late = native()?.run(&[
        "run",
        "--json",
        "--timeout",
        "0.3",
        "--",
        "echo begun; sleep 60",
    ])?;
    assert_eq!(late.code(), 4);
    assert_eq!(late.json()?["ending"], "timed_out");
    assert_eq!(late.json()?["stdout"], "begun\n");
    Ok(())
}

#[test]
fn a_command_that_can_not_run_is_told_with_a_remedy() -> Result<()> {
    let place = native()?;
    place.snapshot(
        "run_missing_command",
        &place.run(&["run", "--", "no-such-program", "x"])?,
    );
    place.snapshot(
        "run_too_late",
        &place.run(&["run", "-t", "0.2", "--", "sleep 60"])?,
    );
    place.snapshot(
        "run_missing_module",
        &place.run(&["run", "-b", "wasm", "--", "sorted", "x"])?,
    );
    Ok(())
}

#[test]
fn a_module_runs_as_a_command() -> Result<()> {
    let place = Place::with_guests(&["sort"], "")?;
    let mut child = place
        .command()?
        .args(["run", "--backend", "wasm", "--stdin", "--", "sort", "-r"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .context("it is piped")?
        .write_all(b"a\nb\n")?;
    let ran = Ran::of(child.wait_with_output()?);
    assert_eq!(
        (ran.code(), ran.stdout()),
        (0, "b\na\n".into()),
        "{}",
        ran.text()
    );
    let wrong = place.run(&["run", "--backend", "wasm", "--", "sort", "-x"])?;
    // WASI 0.2 knows success and failure only.
    assert_eq!(wrong.code(), 1, "{}", wrong.text());
    ensure!(
        wrong.stderr().contains("unrecognized option"),
        "{}",
        wrong.text()
    );
    Ok(())
}

#[test]
fn what_is_no_command_is_named_with_why_and_what_to_do() -> Result<()> {
    let place = Place::with_guests(&["echo"], "")?;
    std::fs::copy(prx_tests::guest("sort")?, place.path("sort.wasm"))?;
    let outside = place.path("sort.wasm").display().to_string();
    for (name, to) in [
        ("out", "../sort.wasm"),
        ("zero", "/dev/zero"),
        ("dangling", "nothing.wasm"),
        ("circle", "circle.wasm"),
    ] {
        symlink(to, place.module(name))?;
    }
    mkfifoat(CWD, place.module("pipe"), Mode::RUSR)?;
    std::fs::create_dir(place.module("folder"))?;
    let _listener = UnixListener::bind(place.module("socket"))?;
    for (name, what, help) in [
        (
            "echo",
            "this is a skill, and no command",
            "call its tools by their names",
        ),
        (
            "out",
            "it is a link to `../sort.wasm`, which leads out of the module folder",
            "copy the file into the folder, or name it by its absolute path",
        ),
        (
            "zero",
            "it is a link to `/dev/zero`, which leads out",
            "copy the file",
        ),
        (
            "../sort.wasm",
            "its path leads out of the module folder",
            "by its absolute path",
        ),
        (
            "dangling",
            "it is a link that leads nowhere: `nothing.wasm` does not exist",
            "correct the link",
        ),
        (
            "circle",
            "it is a link that leads in a circle",
            "correct the link",
        ),
        (
            "pipe",
            "it is a named pipe, no regular file",
            "put the module's `.wasm` file in its place",
        ),
        ("folder", "it is a folder, no regular file", "in its place"),
        ("socket", "it is a socket, no regular file", "in its place"),
        (
            "/dev/zero",
            "it is a device, no regular file",
            "in its place",
        ),
    ] {
        let ran = place.run(&["run", "--backend", "wasm", "--", name])?;
        ensure!(ran.code() == 5, "{name}: {}", ran.text());
        let said = format!("error: `{name}` can not be run: {what}");
        ensure!(ran.stderr().starts_with(&said), "{name}: {}", ran.text());
        let (_, helped) = ran
            .stderr()
            .split_once("\n  help: ")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .context("no help")?;
        ensure!(helped.contains(help), "{name}: {}", ran.text());
        ensure!(!ran.text().contains("chmod"), "{name}: {}", ran.text());
        ensure!(helped.lines().count() == 1, "{name}: {}", ran.text());
    }
    let ran = place.run(&["run", "--backend", "wasm", "--", &outside])?;
    ensure!(ran.code() == 0, "the advice helps: {}", ran.text());
    Ok(())
}

#[test]
fn an_interrupt_ends_the_command_and_everything_it_started() -> Result<()> {
    let place = native()?;
    let mut child = place
        .command()?
        .args(["run", "--", "echo begun; sleep 61.7 & sleep 61.7"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut begun = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().context("it is piped")?, &mut begun)?;
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT)?;
    let ran = Ran::of(child.wait_with_output()?);
    assert_eq!(ran.code(), 130, "{}", ran.text());
    let left = std::fs::read_dir("/proc")?.flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line == b"sleep\x0061.7\0"
    });
    assert_eq!(left.count(), 0);
    Ok(())
}

#[test]
fn the_doctor_says_what_works_and_how_to_get_the_rest() -> Result<()> {
    let place = Place::new("[runtime.docker]\nsocket = \"/no/such/engine.sock\"\n")?;
    let found = place.run(&["doctor", "--json"])?;
    let json = found.json()?;
    assert_eq!(json["selected"], "native");
    assert_eq!(found.code(), 0, "{}", found.text());
    let health = |name: &str| {
        let all = json["backends"].as_array().into_iter().flatten();
        let found = all.into_iter().find(|one| one["name"] == name);
        found.cloned().unwrap_or_default()
    };
    for works in ["native", "bubblewrap", "wasm"] {
        assert_eq!(health(works)["usable"], true, "{works}: {json}");
    }
    assert_eq!(health("docker")["usable"], false);
    ensure!(
        health("docker")["notes"]
            .to_string()
            .contains("/no/such/engine.sock"),
        "{json}"
    );
    ensure!(health("docker")["help"].is_string(), "{json}");
    let text = place.run(&["doctor"])?.stdout();
    for part in [
        "works: bubblewrap",
        "missing: docker",
        "help: ",
        "works: module folder",
    ] {
        ensure!(text.contains(part), "no `{part}` in\n{text}");
    }
    let wanted = Place::new(
        "[runtime]\nbackend = \"docker\"\n[runtime.docker]\nsocket = \"/no/such/engine.sock\"\n",
    )?;
    assert_eq!(wanted.run(&["doctor"])?.code(), 5);
    Ok(())
}

#[test]
fn a_command_tool_is_shown_with_all_that_is_configured() -> Result<()> {
    let place = Place::new(
        "[tools.custom.lint]\ntype = \"native\"\ncommand = \"ruff\"\nargs = [\"check\", [\"--config\", \"{config}\"], \"{path}\"]\n\
         timeout_secs = 5\nenv = { KEY = \"k\" }\n[tools.custom.lint.parameters]\npath = { type = \"string\", required = true }\nconfig = { type = \"string\" }\n",
    )?;
    place.snapshot("inspect_command", &place.run(&["inspect", "lint"])?);
    Ok(())
}

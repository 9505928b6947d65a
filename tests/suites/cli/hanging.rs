//! Sandboxes and engines that hang: the program says so within seconds, and leaves nothing
//! of them behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::place::{Place, Ran};

/// Far more than it takes; without a deadline of its own the program never ends.
const LONG: Duration = Duration::from_mins(2);

/// Runs the program with another variable, for no longer than [`LONG`].
fn run(place: &Place, (name, value): (&str, &str), arguments: &[&str]) -> Result<Ran> {
    let mut command = place.command()?;
    command.env(name, value).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let begun = Instant::now();
    // It says less than a pipe holds.
    while child.try_wait()?.is_none() {
        if begun.elapsed() > LONG {
            child.kill()?;
            child.wait()?;
            bail!("{arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(Ran::of(child.wait_with_output()?))
}

fn is_running(line: &[u8]) -> Result<bool> {
    let mut processes = fs::read_dir("/proc")?.flatten();
    Ok(processes.any(|one| fs::read(one.path().join("cmdline")).is_ok_and(|other| other == line)))
}

#[test]
fn a_sandbox_that_hangs_is_not_waited_for() -> Result<()> {
    let place = Place::new(
        "[security.sandbox]\nbackend = \"bubblewrap\"\n\
         [tools.custom.hello]\ntype = \"native\"\ncommand = \"echo\"\nargs = [\"hello\"]\n",
    )?;
    let script = place.path("bwrap");
    fs::write(&script, "#!/bin/sh\n/bin/sleep 600.375\nexit 0\n")?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    let folder = script.parent().unwrap_or(&script).display();
    let path = format!("{folder}:/usr/bin:/bin");
    for arguments in [&["list"][..], &["check"]] {
        let ran = run(&place, ("PATH", &path), arguments)?;
        ensure!(ran.code() == 0, "{}", ran.text());
    }
    for arguments in [
        &["run", "--backend", "native", "--", "true"][..],
        &["call", "hello"],
        &["doctor"],
    ] {
        let ran = run(&place, ("PATH", &path), arguments)?;
        ensure!(
            ran.text().contains("ran nothing within 5 s") && ran.text().contains("help: "),
            "{}",
            ran.text()
        );
        // Nothing can run natively: even the doctor's exit code says so.
        ensure!(ran.code() == 5, "{}", ran.text());
    }
    // What is killed has still to be run once, to end.
    let begun = Instant::now();
    while is_running(b"/bin/sleep\x00600.375\0")? {
        ensure!(begun.elapsed() < LONG, "something of it is left running");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

#[test]
fn an_engine_that_hangs_is_not_waited_for() -> Result<()> {
    let place = Place::new(
        "[tools.custom.hello]\ntype = \"docker\"\ncommand = \"echo\"\nargs = [\"hello\"]\n",
    )?;
    // The system takes connections for it; it never does.
    let socket = place.path("engine.sock");
    let _listener = UnixListener::bind(&socket)?;
    let address = format!("unix://{}", socket.display());
    for (arguments, code) in [
        (&["list"][..], 0),
        (&["check"], 0),
        (&["doctor"], 0),
        (&["run", "--backend", "docker", "--", "true"], 5),
        (&["call", "hello"], 5),
    ] {
        let ran = run(&place, ("DOCKER_HOST", &address), arguments)?;
        ensure!(ran.code() == code, "{}", ran.text());
        ensure!(
            ran.text().contains("did not answer within 5 s") && ran.text().contains("help: "),
            "{}",
            ran.text()
        );
    }
    Ok(())
}

//! The program as a process: it ends when it should, whatever a guest holds on to.

use std::fs;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// A place with a tool that waits for ever, where only its deadline is far away.
fn with_waiter() -> Result<Place> {
    let place = Place::with_guests(&["time"], "[tools.custom.time]\ntimeout_secs = 600\n")?;
    // Compiled before, so that a deadline is spent on the call alone.
    place.run(&["list"])?;
    Ok(place)
}

fn waiter(place: &Place, more: &[&str]) -> Result<Child> {
    let mut command = place.command()?;
    command.args(["call", "time_poll"]).args(more);
    Ok(command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?)
}

/// Waits until a process has a handler of its own for an interrupt.
fn until_it_listens(child: &mut Child) -> Result<()> {
    const INTERRUPT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    loop {
        if let Some(status) = child.try_wait()? {
            bail!("the program ended before it listened: {status}");
        }
        let text = fs::read_to_string(&status)?;
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.context("no SigCgt")?.trim(), 16)?;
        if caught & INTERRUPT != 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_cancels_a_call() -> Result<()> {
    let place = with_waiter()?;
    let mut child = waiter(&place, &[])?;
    until_it_listens(&mut child)?;
    let pid = Pid::from_raw(child.id().cast_signed()).context("a process has an id")?;
    kill_process(pid, Signal::INT)?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("the call of tool `time_poll` was cancelled"),
        "{said}"
    );
    Ok(())
}

#[test]
fn a_deadline_ends_the_process_although_its_guest_waits_for_ever() -> Result<()> {
    let place = with_waiter()?;
    let output = waiter(&place, &["--timeout", "1"])?.wait_with_output()?;
    assert_eq!(
        output.status.code(),
        Some(4),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

#[test]
fn a_call_compiles_only_the_module_that_it_needs() -> Result<()> {
    let place = Place::with_guests(&["echo", "spins_in_describe"], "")?;
    let ran = place.run(&["call", "echo", "{\"a\":1}"])?;
    // The other module would have been asked for its tools, and given up on, first.
    assert_eq!(
        (ran.code(), ran.stdout().as_str(), ran.stderr().as_str()),
        (0, "{\"a\":1}\n", "")
    );
    Ok(())
}

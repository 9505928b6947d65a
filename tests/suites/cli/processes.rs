//! The program as a process: it ends when it should, whatever a guest holds on to.

use std::fs;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// A folder with a FIFO that nobody writes to: whoever reads it waits for ever.
fn with_fifo() -> Result<Place> {
    let place = Place::with_guests(
        &["files"],
        "[tools.custom.files.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n",
    )?;
    fs::create_dir(place.path("docs"))?;
    mknodat(CWD, place.path("docs/fifo"), FileType::Fifo, Mode::RWXU, 0)?;
    // Compiled before, so that a deadline is spent on the call alone.
    place.run(&["list"])?;
    Ok(place)
}

fn reader(place: &Place, more: &[&str]) -> Result<Child> {
    let mut command = place.command()?;
    command
        .args(["call", "files_read", "--arg", "path=/docs/fifo"])
        .args(more);
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
    let place = with_fifo()?;
    let mut child = reader(&place, &[])?;
    until_it_listens(&mut child)?;
    let pid = Pid::from_raw(child.id().cast_signed()).context("a process has an id")?;
    kill_process(pid, Signal::INT)?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("the call of tool `files_read` was cancelled"),
        "{said}"
    );
    Ok(())
}

#[test]
fn a_deadline_ends_the_process_although_a_thread_is_blocked_in_the_system() -> Result<()> {
    let place = with_fifo()?;
    let output = reader(&place, &["--timeout", "1"])?.wait_with_output()?;
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

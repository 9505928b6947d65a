//! The program as a process: it ends when it should, whatever a guest holds on to.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, bail};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// A folder with a FIFO that nobody writes to: whoever reads it waits for ever.
fn with_fifo() -> Result<Place> {
    let place = Place::with_guests(
        &["files"],
        "[tools.custom.files.capabilities]\nfilesystem_read = [\"./docs::/docs\"]\n",
    )?;
    std::fs::create_dir(place.path("docs"))?;
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

/// The writing end, as soon as the guest holds the reading end.
fn when_read(fifo: &Path, child: &mut Child) -> Result<File> {
    loop {
        let opened = OpenOptions::new()
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(fifo);
        match opened {
            Ok(file) => return Ok(file),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                if let Some(status) = child.try_wait()? {
                    bail!("the program ended before it read: {status}");
                }
                std::thread::yield_now();
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[test]
fn an_interrupt_cancels_a_call_that_is_blocked_in_the_system() -> Result<()> {
    let place = with_fifo()?;
    let mut child = reader(&place, &[])?;
    let _writer = when_read(&place.path("docs/fifo"), &mut child)?;
    let pid = Pid::from_raw(child.id().cast_signed()).context("a process has an id")?;
    kill_process(pid, Signal::INT)?;
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr)?;
    assert!(
        said.contains("the call of tool `files_read` was cancelled"),
        "{said}"
    );
    Ok(())
}

#[test]
fn a_deadline_ends_the_process_although_a_thread_is_blocked() -> Result<()> {
    let place = with_fifo()?;
    let mut child = reader(&place, &["--timeout", "1"])?;
    let _writer = when_read(&place.path("docs/fifo"), &mut child)?;
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(4));
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

//! What a started process is like: its program, its signals, its arguments, and errors.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Signal;

use super::launch::{Launch, Started};

fn start(file: &str, arguments: &[&str]) -> io::Result<Started> {
    let mut launch = Launch::new(Path::new(file));
    for argument in arguments {
        launch.arg(argument);
    }
    launch.start()
}

/// What it printed until its end.
fn said(started: Started) -> String {
    let Started {
        mut leader, stdout, ..
    } = started;
    let mut text = String::new();
    File::from(stdout).read_to_string(&mut text).unwrap();
    leader.reap();
    text
}

#[test]
fn a_program_that_does_not_run_is_the_error_of_its_start() {
    let error = start("/nowhere/at/all", &[]).err().unwrap();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::NOENT));
    let error = start("/etc/passwd", &[]).err().unwrap();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::ACCESS));
}

#[test]
fn a_step_that_fails_keeps_the_program_from_running() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let mut launch = Launch::new(Path::new("/bin/touch"));
    launch.arg(&made);
    // SAFETY: the step makes no more than an error number.
    unsafe { launch.step(|| Err(Errno::NXIO.into())) };
    let error = launch.start().err().unwrap();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::NXIO));
    assert!(!made.exists());
}

#[test]
fn no_handler_and_no_block_of_this_process_reaches_the_program() {
    extern "C" fn handle(_: libc::c_int) {}
    // SAFETY: the handler does nothing, and no other test sends or uses this signal.
    unsafe {
        libc::signal(
            libc::SIGUSR2,
            handle as extern "C" fn(libc::c_int) as libc::sighandler_t,
        )
    };
    let status = said(start("/bin/cat", &["/proc/self/status"]).unwrap());
    let set = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    };
    let pipe = 1_u64 << (Signal::PIPE.as_raw() - 1);
    assert_eq!(set("SigBlk:"), 0, "{status}");
    assert_eq!(set("SigCgt:"), 0, "{status}");
    assert_eq!(set("SigIgn:") & pipe, 0, "{status}");
}

#[test]
fn a_script_that_does_not_say_by_what_runs_in_a_shell_with_all_its_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "echo $#\n").unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let many = 100_000;
    let mut launch = Launch::new(&script);
    let own: OsString = script.clone().into();
    let argv = std::iter::once(own).chain((0..many).map(|_| "x".into()));
    launch.argv(argv.collect());
    assert_eq!(said(launch.start().unwrap()), format!("{many}\n"));
}

#[test]
fn only_the_three_streams_are_open_where_a_step_closes_the_rest() {
    let held = File::open("/dev/null").unwrap();
    let mut launch = super::spawner::launch(Path::new("/bin/ls"));
    launch.arg("/proc/self/fd");
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
    let open = said(launch.start().unwrap());
    // The fourth is the one that lists them.
    assert_eq!(open, "0\n1\n2\n3\n");
}

#[test]
fn a_started_process_that_nobody_takes_is_ended() {
    let mut launch = super::spawner::launch(Path::new("/bin/sleep"));
    launch.arg("600");
    let Started { leader, stdout, .. } = launch.start().unwrap();
    drop(leader);
    let mut rest = Vec::new();
    // Its end comes with that of the process, which would last ten minutes.
    File::from(stdout).read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
}

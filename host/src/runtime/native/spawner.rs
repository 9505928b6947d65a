//! The thread that starts all processes.
//!
//! A child asks the kernel to be killed when its parent dies, and the kernel takes the
//! *thread* that forked it for the parent. Threads of an async runtime come and go; this
//! one lives as long as the process. It also keeps the wait for `exec` off the runtime.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setpgid, setsid};
use tokio::sync::oneshot;

use super::launch::{Launch, Started};

/// `CLOSE_RANGE_CLOEXEC`
const CLOSE_ON_EXEC: libc::c_uint = 4;

struct Order {
    launch: Launch,
    answer: oneshot::Sender<io::Result<Started>>,
}

/// A program that will lead a group of its own, without a terminal, be killed when this
/// process dies, and inherit no descriptor but those that later steps let through.
pub(super) fn launch(program: &Path) -> Launch {
    let mut launch = Launch::new(program);
    let host = getpid();
    let has_terminal = has_terminal();
    let prepare = move || {
        // What this process itself inherited would else go on to every command, out of
        // each sandbox. Kernels before 5.11 can not do this, which is no reason to fail.
        // SAFETY: a system call without pointers.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_ON_EXEC) };
        if has_terminal {
            setsid()?;
        } else {
            setpgid(None, None)?;
        }
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died just before the kernel was asked.
        if getppid() == Some(host) {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(Errno::SRCH.raw_os_error()))
        }
    };
    // SAFETY: the step only makes system calls.
    unsafe { launch.step(prepare) };
    launch
}

/// Whether this process has a controlling terminal, which a command must not read from. A
/// new session has none, but is scheduled as a whole of its own, which costs a short
/// command a good part of its time on a busy machine; so there is one only where needed.
fn has_terminal() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| File::open("/dev/tty").is_ok())
}

/// Starts what [`launch`] made.
pub(super) async fn start(launch: Launch) -> io::Result<Started> {
    let (answer, answered) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    thread()?
        .send(Order { launch, answer })
        .map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}

fn thread() -> io::Result<&'static Sender<Order>> {
    static THREAD: OnceLock<Sender<Order>> = OnceLock::new();
    if let Some(sender) = THREAD.get() {
        return Ok(sender);
    }
    let (sender, orders) = mpsc::channel::<Order>();
    std::thread::Builder::new()
        .name("prx-spawner".to_owned())
        .spawn(move || {
            for Order { launch, answer } in orders {
                // What nobody waits for any more ends where it is dropped.
                let _ = answer.send(launch.start());
            }
        })?;
    // Of two threads that are made at once, one ends here with its sender.
    Ok(THREAD.get_or_init(|| sender))
}

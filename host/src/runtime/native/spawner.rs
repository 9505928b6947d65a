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
                if answer.is_closed() {
                    continue;
                }
                // What nobody waits for any more ends where it is dropped.
                let _ = answer.send(launch.start());
            }
        })?;
    // Of two threads that are made at once, one ends here with its sender.
    Ok(THREAD.get_or_init(|| sender))
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI32, Ordering};

    use futures::poll;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::*;

    /// A process that lasts, and its number once it was begun.
    fn lasting() -> (Launch, Arc<AtomicI32>) {
        let begun = Arc::new(AtomicI32::new(0));
        let mut launch = launch(Path::new("/bin/sleep"));
        launch.arg("600");
        let told = Arc::clone(&begun);
        let step = move || {
            // SAFETY: no pointer.
            told.store(unsafe { libc::getpid() }, Ordering::SeqCst);
            Ok(())
        };
        // SAFETY: a system call, and memory that this process shares until the program runs.
        unsafe { launch.step(step) };
        (launch, begun)
    }

    /// A process that the thread of this module waits for, until a byte is written: what is
    /// ordered after it is certainly not done before.
    fn held() -> (Launch, PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        let mut launch = launch(Path::new("/bin/true"));
        let hold = move || {
            let mut byte = 0_u8;
            // SAFETY: one byte is written to `byte`.
            unsafe { libc::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) };
            Ok(())
        };
        // SAFETY: the step only makes a system call.
        unsafe { launch.step(hold) };
        (launch, writer)
    }

    /// Waits until whatever was ordered before is done: orders are taken in turn.
    async fn catch_up() {
        drop(start(launch(Path::new("/bin/true"))).await.unwrap());
    }

    #[tokio::test]
    async fn what_was_started_for_somebody_who_is_gone_is_killed() {
        let (holding, mut writer) = held();
        let mut first = pin!(start(holding));
        assert!(poll!(&mut first).is_pending());
        let (launch, begun) = lasting();
        let exit = {
            let mut starting = pin!(start(launch));
            assert!(poll!(&mut starting).is_pending());
            writer.write_all(b"g").unwrap();
            first.await.unwrap();
            catch_up().await;
            let id = Pid::from_raw(begun.load(Ordering::SeqCst)).unwrap();
            pidfd_open(id, PidfdFlags::empty()).unwrap()
        };
        // SAFETY: an `OwnedFd` names one open file for as long as it lives.
        let exit = unsafe { AsyncFd::register_with_interest(exit, Interest::READABLE) }.unwrap();
        let _ready = exit.readable().await.unwrap();
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_not_started() {
        let (holding, mut writer) = held();
        let mut first = pin!(start(holding));
        assert!(poll!(&mut first).is_pending());
        let (launch, begun) = lasting();
        {
            let mut starting = pin!(start(launch));
            assert!(poll!(&mut starting).is_pending());
        }
        writer.write_all(b"g").unwrap();
        first.await.unwrap();
        catch_up().await;
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    }
}

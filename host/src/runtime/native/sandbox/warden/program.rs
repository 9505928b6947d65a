//! The warden: the first process of a bubblewrap sandbox, a program of its own.
//!
//! It starts the command, tells the host how the command really ended, and takes every
//! process of the sandbox with it when the host says so or goes away. `build.rs` compiles
//! it without any library, so that it runs whatever the sandbox shows, and starts fast.
//!
//! Called as `warden CONTROL OWN NPROC NOFILE ORDER ARGUMENTS VARIABLES`: the descriptor
//! of the socket to the host, the descriptor of this program, two limits (`-`: none), the
//! descriptor of the order, and how many arguments and variables it holds. The order is
//! the file to run, its arguments and its variables, each ended by a NUL; without an
//! argument there is nothing to run, the sandbox is only tried. On the socket the warden
//! writes `r` (it is running), then `x` and an errno (the command could not be run) or `s`
//! and a wait status, before that of a killed command `c` and the seconds of processor
//! time that it used, and at last, where it is the first process, `e` (nobody else is
//! left). It reads `t` (SIGTERM to all), `k` (SIGKILL to all) or the end of the stream (it
//! ends, and with it all).

#![no_std]
#![no_main]

mod system;

use core::arch::global_asm;

use system::{number, syscall};

const SIGKILL: usize = 9;
const SIGTERM: usize = 15;
const SIGCHLD: usize = 17;
const F_SETFD: usize = 2;
const FD_CLOEXEC: usize = 1;
const PR_SET_DUMPABLE: usize = 4;
const RLIMIT_NPROC: usize = 6;
const RLIMIT_NOFILE: usize = 7;
const SFD_FLAGS: usize = 0o2_004_000; // close on exec, and never waits
const WNOHANG: usize = 1;
const POLLIN: i16 = 1;
const EINTR: isize = -4;
const ECHILD: isize = -10;
const CPUCLOCK_SCHED: isize = 2; // of all threads of a process
const SEEK_END: usize = 2;
const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const WORD: usize = size_of::<usize>();

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym main,
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x0, sp",
    "and x1, x0, #-16",
    "mov sp, x1",
    "bl {main}",
    "brk #1",
    main = sym main,
);

fn exit(code: usize) -> ! {
    loop {
        // SAFETY: no pointer; it does not return.
        unsafe { syscall(number::EXIT_GROUP, [code, 0, 0, 0, 0, 0]) };
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(70)
}

/// The number that a text holds; `None` for anything else.
///
/// # Safety
/// `text` ends with a NUL.
unsafe fn parsed(text: *const u8) -> Option<usize> {
    let mut value = 0_usize;
    let mut at = text;
    loop {
        // SAFETY: the loop ends at the NUL.
        let byte = unsafe { at.read() };
        match byte {
            0 => return if at == text { None } else { Some(value) },
            b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add((byte - b'0') as usize),
            _ => return None,
        }
        at = at.wrapping_add(1);
    }
}

/// Writes a letter and a number to the host, as one packet.
fn tell(control: usize, letter: u8, value: i32) {
    let [a, b, c, d] = value.to_le_bytes();
    let packet = [letter, a, b, c, d];
    // SAFETY: the pointer and the length are those of `packet`.
    unsafe {
        syscall(
            number::WRITE,
            [control, packet.as_ptr() as usize, 5, 0, 0, 0],
        )
    };
}

fn limit(resource: usize, most: Option<usize>) {
    if let Some(most) = most {
        let limits = [most as u64, most as u64];
        // SAFETY: `limits` is a `struct rlimit64`.
        unsafe {
            syscall(
                number::PRLIMIT64,
                [0, resource, limits.as_ptr() as usize, 0, 0, 0],
            )
        };
    }
}

fn mask_children(how: usize) -> u64 {
    let mask = 1_u64 << (SIGCHLD - 1);
    // SAFETY: `mask` is a signal set of 8 bytes.
    unsafe {
        syscall(
            number::SIGPROCMASK,
            [how, &raw const mask as usize, 0, 8, 0, 0],
        )
    };
    mask
}

/// # Safety
/// `stack` is what the kernel hands to a new program.
unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: the count of arguments, then the arguments.
    let (count, arguments) = unsafe { (stack.read(), stack.add(1).cast::<*const u8>()) };
    if count != 8 {
        exit(64);
    }
    // SAFETY: there are eight, each of which ends with a NUL.
    let number = |at: usize| unsafe { parsed(*arguments.add(at)) };
    let (Some(control), Some(own), Some(order)) = (number(1), number(2), number(5)) else {
        exit(64)
    };
    let (Some(argc), Some(envc)) = (number(6), number(7)) else {
        exit(64)
    };
    let mask = mask_children(0);
    // SAFETY: the only pointer is that of `mask`.
    let signals = unsafe {
        syscall(number::FCNTL, [control, F_SETFD, FD_CLOEXEC, 0, 0, 0]);
        syscall(number::CLOSE, [own, 0, 0, 0, 0, 0]);
        // What runs in here must not reach into this process.
        syscall(number::PRCTL, [PR_SET_DUMPABLE, 0, 0, 0, 0, 0]);
        let mask = &raw const mask as usize;
        syscall(number::SIGNALFD4, [usize::MAX, mask, 8, SFD_FLAGS, 0, 0])
    };
    let command = read(order, argc, envc);
    if is_over(control) {
        exit(0);
    }
    if argc == 0 {
        tell(control, b's', 0);
        exit(0);
    }
    // Before the command can do anything, such as killing this process.
    tell(control, b'r', 0);
    // SAFETY: a fork; both go on with memory of their own.
    let child = unsafe { syscall(number::CLONE, [SIGCHLD, 0, 0, 0, 0, 0]) };
    if child == 0 {
        mask_children(1);
        limit(RLIMIT_NPROC, number(3));
        limit(RLIMIT_NOFILE, number(4));
        // SAFETY: both lists end with a null.
        let error = unsafe {
            // Not a session: the sandbox is in one that has no terminal.
            syscall(number::SETPGID, [0; 6]);
            let Command { path, argv, envp } = command;
            syscall(number::EXECVE, [path, argv, envp, 0, 0, 0])
        };
        tell(control, b'x', -error as i32);
        exit(127);
    }
    if child < 0 {
        tell(control, b'x', -child as i32);
        exit(127);
    }
    watch(control, signals as usize, child)
}

/// What `execve` takes.
struct Command {
    path: usize,
    argv: usize,
    envp: usize,
}

/// Reads the order: a path, arguments and variables.
fn read(order: usize, argc: usize, envc: usize) -> Command {
    // SAFETY: no pointer; the mappings are new.
    let (text, size, list) = unsafe {
        let size = syscall(number::LSEEK, [order, 0, SEEK_END, 0, 0, 0]) as usize;
        // One byte more, a zero, so that the last text ends whatever the file holds.
        let mapped = [0, size + 1, PROT_READ_WRITE, MAP_PRIVATE, order, 0];
        let text = syscall(number::MMAP, mapped);
        let flags = MAP_PRIVATE | MAP_ANONYMOUS;
        let bytes = (argc + envc + 3) * WORD;
        let list = syscall(
            number::MMAP,
            [0, bytes, PROT_READ_WRITE, flags, usize::MAX, 0],
        );
        syscall(number::CLOSE, [order, 0, 0, 0, 0, 0]);
        (text, size, list)
    };
    if text < 0 || list < 0 {
        exit(71);
    }
    let (text, list) = (text as usize, list as *mut usize);
    let (mut at, mut slot) = (text, 0);
    // The path, the arguments and a null, the variables and a null.
    for index in 0..1 + argc + envc {
        if index == 1 + argc {
            slot += 1;
        }
        // SAFETY: the list has a place for each text and for two nulls; texts are read
        // within the file.
        unsafe {
            list.add(slot).write(at);
            while at < text + size && (at as *const u8).read() != 0 {
                at += 1;
            }
        }
        at += 1;
        slot += 1;
    }
    Command {
        path: text,
        argv: list as usize + WORD,
        envp: list as usize + (argc + 2) * WORD,
    }
}

/// Reaps, tells and obeys until nobody is left or the host wants no more.
fn watch(control: usize, signals: usize, command: isize) -> ! {
    // The host must see the end of the command's streams.
    for stream in 0..3 {
        // SAFETY: no pointer.
        unsafe { syscall(number::CLOSE, [stream, 0, 0, 0, 0, 0]) };
    }
    loop {
        let mut polled = [Polled::new(control), Polled::new(signals)];
        // SAFETY: two entries; without a time and a mask.
        let count =
            unsafe { syscall(number::PPOLL, [polled.as_mut_ptr() as usize, 2, 0, 0, 8, 0]) };
        if count < 0 && count != EINTR {
            exit(70);
        }
        if polled[1].answered != 0 {
            let mut told = [0_u8; 128];
            // SAFETY: the pointer and the length are those of `told`.
            unsafe {
                syscall(
                    number::READ,
                    [signals, told.as_mut_ptr() as usize, 128, 0, 0, 0],
                )
            };
            reap(control, command);
        }
        if polled[0].answered != 0 {
            obey(control);
        }
    }
}

/// `struct pollfd`
#[repr(C)]
struct Polled {
    descriptor: i32,
    asked: i16,
    answered: i16,
}

impl Polled {
    fn new(descriptor: usize) -> Self {
        Self {
            descriptor: descriptor as i32,
            asked: POLLIN,
            answered: 0,
        }
    }
}

/// Whether the host went away, or wants no more, before anything began.
fn is_over(control: usize) -> bool {
    let mut polled = [Polled::new(control)];
    let at_once = [0_i64; 2];
    // SAFETY: one entry, and a `struct timespec`; without a mask.
    unsafe {
        let (entries, time) = (polled.as_mut_ptr() as usize, at_once.as_ptr() as usize);
        syscall(number::PPOLL, [entries, 1, time, 0, 8, 0]) != 0
    }
}

fn reap(control: usize, command: isize) {
    loop {
        let mut status = 0_i32;
        // Once it is reaped nobody can tell.
        let used = cpu_time(command);
        // SAFETY: `status` is written.
        let ended = unsafe {
            let status = &raw mut status as usize;
            syscall(number::WAIT4, [usize::MAX, status, WNOHANG, 0, 0, 0])
        };
        if ended == command {
            if status & 0x7f == SIGKILL as i32 {
                tell(control, b'c', used);
            }
            tell(control, b's', status);
        } else if ended == ECHILD {
            // Orphans become children of the first process, so nobody is left.
            if is_first() {
                tell(control, b'e', 0);
            }
            exit(0);
        } else if ended <= 0 {
            return;
        }
    }
}

/// The seconds of processor time that a process used itself, without its children.
fn cpu_time(process: isize) -> i32 {
    let clock = (!process << 3) | CPUCLOCK_SCHED;
    let mut used = [0_i64; 2];
    // SAFETY: `used` is a `struct timespec`, which is written.
    unsafe {
        let used = used.as_mut_ptr() as usize;
        syscall(number::CLOCK_GETTIME, [clock as usize, used, 0, 0, 0, 0]);
    }
    used[0] as i32
}

fn obey(control: usize) {
    let mut order = 0_u8;
    // SAFETY: one byte is written to `order`.
    let count = unsafe { syscall(number::READ, [control, &raw mut order as usize, 1, 0, 0, 0]) };
    if count == EINTR {
        return;
    }
    // To all of this PID namespace but this process.
    match order {
        b't' if count == 1 => send_all(SIGTERM),
        b'k' if count == 1 => {
            send_all(SIGKILL);
            // What another process has to reap is not this one's to wait for.
            if !is_first() {
                exit(0);
            }
        }
        _ => exit(0),
    }
}

fn send_all(signal: usize) {
    // SAFETY: no pointer.
    unsafe { syscall(number::KILL, [usize::MAX, signal, 0, 0, 0, 0]) };
}

fn is_first() -> bool {
    // SAFETY: no pointer.
    unsafe { syscall(number::GETPID, [0; 6]) == 1 }
}

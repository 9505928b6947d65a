//! Plays every role that the contract of the adapters asks of a program. Nothing but the
//! standard library, so that it can be compiled alone, for this machine and for WASI.
//! Roles that WASI does not know end with code 64 there.

use std::io::{Read as _, Write as _};
use std::process::exit;
use std::time::Duration;

/// Longer than any test runs.
const FOREVER: Duration = Duration::from_mins(10);

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let role = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let first = rest.first().map(String::as_str).unwrap_or_default();
    match role.to_str().unwrap_or_default() {
        "arguments" => rest.iter().for_each(|argument| say(&ended(argument))),
        "variables" => {
            for (name, value) in std::env::vars() {
                say(&ended(&format!("{name}={value}")));
            }
        }
        "folder" => say(std::env::current_dir()
            .unwrap()
            .to_str()
            .unwrap()
            .as_bytes()),
        "print" => {
            say(&decoded(first));
            complain(&decoded(
                rest.get(1).map(String::as_str).unwrap_or_default(),
            ));
        }
        "exit" => exit(first.parse().unwrap()),
        "abort" => std::process::abort(),
        "echo" => {
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).unwrap();
            say(&input);
        }
        "flood" => flood(first.parse().unwrap()),
        "sleep" => sleep(),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "read" => match std::fs::read(first) {
            Ok(bytes) => say(&bytes),
            Err(error) => fail(&error),
        },
        "write" => {
            if let Err(error) = std::fs::write(first, "written by a command") {
                fail(&error);
            }
        }
        "connect" => {
            if let Err(error) = std::net::TcpStream::connect(first) {
                fail(&error);
            }
        }
        "allocate" => allocate(first.parse().unwrap()),
        role => processes::play(role, &rest),
    }
}

fn say(bytes: &[u8]) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

fn complain(bytes: &[u8]) {
    let _ = std::io::stderr().write_all(bytes);
}

fn fail(error: &std::io::Error) -> ! {
    complain(error.to_string().as_bytes());
    exit(1)
}

fn ended(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// Bytes from two digits each.
fn decoded(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Fills both streams in turns.
fn flood(bytes: usize) {
    let chunk = [b'x'; 4096];
    let mut left = bytes;
    while left > 0 {
        let count = left.min(chunk.len());
        say(&chunk[..count]);
        complain(&chunk[..count]);
        left -= count;
    }
}

/// Says that it began, and lasts.
fn sleep() {
    say(b"begun\n");
    std::thread::sleep(FOREVER);
}

/// Writes to that many bytes of memory.
fn allocate(bytes: usize) {
    let mut memory: Vec<u8> = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        complain(b"no memory");
        exit(1);
    }
    memory.resize(bytes, 1);
    say(memory
        .iter()
        .map(|byte| usize::from(*byte))
        .sum::<usize>()
        .to_string()
        .as_bytes());
}

#[cfg(unix)]
mod processes {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio, exit};

    unsafe extern "C" {
        fn signal(number: i32, action: usize) -> usize;
        fn setsid() -> i32;
        fn kill(pid: i32, number: i32) -> i32;
        fn fcntl(descriptor: i32, command: i32) -> i32;
    }

    const SIGTERM: i32 = 15;
    const IGNORE: usize = 1;
    const F_GETFD: i32 = 1;

    /// `rest` ends with a marker, by which a test finds the processes.
    pub fn play(role: &str, rest: &[String]) {
        match role {
            "stubborn" => {
                // SAFETY: ignoring a signal needs no handler.
                unsafe { signal(SIGTERM, IGNORE) };
                super::sleep();
            }
            "leave" => {
                start(&rest[0], false);
                super::say(b"left\n");
            }
            "leave and stay" => {
                start(&rest[0], false);
                super::sleep();
            }
            "daemonise" => {
                start(&rest[0], true);
                super::say(b"left\n");
            }
            "descriptors" => {
                // SAFETY: a system call without pointers.
                let open = (3..1000).filter(|number| unsafe { fcntl(*number, F_GETFD) } != -1);
                open.for_each(|number| super::say(format!("{number} ").as_bytes()));
            }
            "start" => start_several(rest[0].parse().unwrap()),
            "kill" => {
                // SAFETY: a system call without pointers.
                if unsafe { kill(rest[0].parse().unwrap(), rest[1].parse().unwrap()) } != 0 {
                    super::fail(&std::io::Error::last_os_error());
                }
            }
            _ => exit(64),
        }
    }

    /// A child that lasts: with the streams of this process, or in a session of its own
    /// without any stream.
    #[expect(clippy::zombie_processes, reason = "it is to outlive this process")]
    fn start(marker: &str, apart: bool) {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.arg("sleep").arg(marker);
        if apart {
            child
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // SAFETY: one system call.
            unsafe {
                child.pre_exec(|| {
                    setsid();
                    Ok(())
                });
            }
        }
        child.spawn().unwrap();
    }

    /// As many children at once as are wanted, or as are allowed; says how many.
    fn start_several(count: usize) {
        let mut children = Vec::new();
        for _ in 0..count {
            let mut child = Command::new(std::env::current_exe().unwrap());
            match child.arg("sleep").stdout(Stdio::null()).spawn() {
                Ok(child) => children.push(child),
                Err(_) => break,
            }
        }
        super::say(children.len().to_string().as_bytes());
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[cfg(not(unix))]
mod processes {
    pub fn play(_role: &str, _rest: &[String]) {
        std::process::exit(64);
    }
}

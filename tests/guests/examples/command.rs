//! A WASI command: what it does is its first argument, and what it says is on its
//! standard output.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// What the standard library does not say, or not ask, by itself.
#[allow(
    missing_docs,
    clippy::pedantic,
    reason = "generated; documented by WASI"
)]
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package wasi:cli@0.2.12;
            interface exit {
                exit: func(status: result);
                exit-with-code: func(status-code: u8);
            }
            interface environment {
                get-environment: func() -> list<tuple<string, string>>;
                get-arguments: func() -> list<string>;
                initial-cwd: func() -> option<string>;
            }
            world exact {
                import exit;
                import environment;
            }
        ",
    });
}

use bindings::wasi::cli::environment::initial_cwd;
use bindings::wasi::cli::exit::exit_with_code;

fn main() -> ExitCode {
    let all: Vec<String> = std::env::args().collect();
    let Some((what, rest)) = all.get(1..).and_then(<[String]>::split_first) else {
        println!("{}", all.len());
        return ExitCode::SUCCESS;
    };
    match what.as_str() {
        // All that it was started with, without doubt where an argument ends.
        "arguments" => println!("{all:?}"),
        "variables" => println!("{:?}", std::env::vars().collect::<Vec<_>>()),
        "folder" => println!("{}", initial_cwd().unwrap_or_default()),
        "exit" => {
            exit_with_code(u8::try_from(number(rest)).expect("a code"));
        }
        "return" => return u8::try_from(number(rest)).map_or(ExitCode::FAILURE, ExitCode::from),
        "copy" => {
            let mut input = Vec::new();
            let read = std::io::stdin().read_to_end(&mut input);
            read.and_then(|_| std::io::stdout().write_all(&input))
                .expect("standard streams work");
        }
        "flood" => flood(number(rest)),
        "panic" => panic!("nothing is left of {rest:?}"),
        "recurse" => println!("{}", recurse(number(rest).unsigned_abs().into())),
        "spin" => loop {
            std::hint::black_box(());
        },
        "sleep" => {
            eprintln!("asleep");
            std::thread::sleep(Duration::from_hours(1));
        }
        "grow" => grow(number(rest)),
        "read" => println!("{}", said(std::fs::read_to_string(&rest[0]))),
        "write" => println!(
            "{}",
            said(std::fs::write(&rest[0], &rest[1]).map(|()| "written".into()))
        ),
        "connect" => println!(
            "{}",
            said(std::net::TcpStream::connect(&rest[0]).map(|_| "connected".into()))
        ),
        other => {
            eprintln!("`{other}` is nothing that this program does");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn number(arguments: &[String]) -> i32 {
    arguments[0].parse().expect("a number")
}

fn said(result: std::io::Result<String>) -> String {
    result.unwrap_or_else(|error| format!("error: {error}"))
}

/// Writes that many bytes to both streams, in pieces and in turn.
fn flood(bytes: i32) {
    let piece = vec![b'x'; 64 << 10];
    let mut left = usize::try_from(bytes).expect("not negative");
    while left > 0 {
        let piece = &piece[..piece.len().min(left)];
        std::io::stdout().write_all(piece).expect("never full");
        std::io::stderr().write_all(piece).expect("never full");
        left -= piece.len();
    }
}

fn recurse(depth: u64) -> u64 {
    if depth == 0 {
        return 0;
    }
    std::hint::black_box(recurse(std::hint::black_box(depth - 1))) + 1
}

/// Uses that many MiB of memory.
fn grow(mebibytes: i32) {
    let mut kept = Vec::new();
    for _ in 0..mebibytes {
        kept.push(vec![1_u8; 1 << 20]);
    }
    println!("{}", kept.iter().map(Vec::len).sum::<usize>());
}

//! The program, as far as it needs no modules: its help, its configuration commands, and
//! how it speaks of faults.

mod configuration;
mod help;
#[cfg(not(feature = "wasm-runtime"))]
mod without_wasm;

use std::path::Path;

use assert_cmd::Command;

/// The program in an empty home and an empty environment.
fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prx-host"));
    command.env_clear().env("HOME", home).current_dir(home);
    command
}

/// Runs the program; everything that it says, in one text without paths of this machine.
fn run(home: &Path, arguments: &[&str]) -> String {
    let output = program(home)
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it writes UTF-8");
    let said = format!(
        "exit code: {}\n--- standard output\n{}--- standard error\n{}",
        output.status.code().expect("it ends by itself"),
        text(&output.stdout),
        text(&output.stderr),
    );
    said.replace(&home.display().to_string(), "[home]")
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

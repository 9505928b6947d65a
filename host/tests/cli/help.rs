//! Help texts: each command has one, with an example.

use crate::{home, program, run};

/// Every command, as it is written.
const COMMANDS: &[&str] = &[
    "",
    "list",
    "call",
    "inspect",
    "check",
    "install",
    "remove",
    "run",
    #[cfg(feature = "mcp")]
    "serve",
    #[cfg(feature = "mcp")]
    "mcp-config",
    "watch",
    "doctor",
    "config",
    "config show",
    "config init",
    "config path",
    "completions",
];

#[test]
#[cfg(all(feature = "mcp", feature = "wasm-runtime"))]
fn help_texts_are_these() {
    let home = home();
    for command in COMMANDS {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("--help");
        let name = format!("help {command}").trim().replace(' ', "_");
        insta::assert_snapshot!(name, run(home.path(), &arguments));
    }
}

#[test]
fn every_command_shows_an_example() {
    let home = home();
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let output = program(home.path())
                .args(command.split_whitespace())
                .arg(flag)
                .output();
            let text = String::from_utf8(output.unwrap().stdout).unwrap();
            let expected = if command.is_empty() {
                "prx-host"
            } else {
                "Examples:\n  "
            };
            assert!(text.contains(expected), "{command} {flag}: {text}");
        }
    }
}

#[test]
fn the_version_names_features_and_engine() {
    let home = home();
    let said = run(home.path(), &["--version"]);
    assert!(
        said.contains(concat!("prx-host ", env!("CARGO_PKG_VERSION"))),
        "{said}"
    );
    let (features, engine) = if cfg!(feature = "wasm-runtime") {
        ("features: wasm-runtime\n", "wasmtime: 48.")
    } else {
        ("features: none\n", "wasmtime: not built in\n")
    };
    assert!(said.contains(features) && said.contains(engine), "{said}");
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    let home = home();
    for arguments in [
        &["bogus"][..],
        &["call"],
        &["list", "--bogus"],
        &["call", "x", "--timeout", "0"],
        &["call", "x", "--timeout", "soon"],
        &["call", "x", "--arg", "novalue"],
        &["install"],
        &["remove"],
        &["list", "-v", "-q"],
    ] {
        program(home.path()).args(arguments).assert().code(2);
    }
}

#[test]
fn completions_name_the_commands() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = program(home.path())
            .args(["completions", shell])
            .output()
            .unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        for command in ["inspect", "check", "install", "remove", "completions"] {
            assert!(script.contains(command), "{shell} has no {command}");
        }
    }
}

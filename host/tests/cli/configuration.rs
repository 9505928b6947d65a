//! `config`, and faulty configurations in front of every command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::{home, program, run};

const FAULTY: &str = "[runtime]\nbackend = \"wasn\"\n\n[runtime.wasm]\nmax_memory = 5\n";

#[test]
fn init_writes_a_private_file_that_loads_and_never_overwrites_it() {
    let home = home();
    let first = run(home.path(), &["config", "init"]);
    insta::assert_snapshot!("init", first);
    let file = home.path().join(".config/openprx/config.toml");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        prx_host::config::template()
    );

    fs::write(&file, "# mine\n").unwrap();
    insta::assert_snapshot!("init_again", run(home.path(), &["config", "init"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");

    program(home.path())
        .args(["config", "init", "--force"])
        .assert()
        .code(0);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        prx_host::config::template()
    );
    program(home.path()).arg("check").assert().code(0);
}

#[test]
fn init_writes_where_it_is_told() {
    let home = home();
    let wanted = home.path().join("a/b/c.toml");
    for arguments in [
        &["config", "init", "--path", "a/b/c.toml"][..],
        &["config", "init", "--config", "a/b/c.toml"],
    ] {
        program(home.path()).args(arguments).assert().code(0);
        fs::remove_file(&wanted).unwrap();
    }
    program(home.path())
        .args(["config", "init", "--json"])
        .env("PRX_HOST_CONFIG", &wanted)
        .assert()
        .code(0);
    fs::remove_file(&wanted).unwrap();
}

#[test]
fn init_with_force_keeps_a_link_and_replaces_what_it_leads_to() {
    let home = home();
    let (link, file) = (home.path().join("link.toml"), home.path().join("file.toml"));
    fs::write(&file, "# old\n").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    program(home.path())
        .args(["config", "init", "--force", "--path", "link.toml"])
        .assert()
        .code(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        prx_host::config::template()
    );
}

#[test]
fn path_says_which_file_and_why() {
    let home = home();
    insta::assert_snapshot!("path_without_a_file", run(home.path(), &["config", "path"]));
    fs::write(home.path().join("mine.toml"), "").unwrap();
    insta::assert_snapshot!(
        "path_by_flag",
        run(home.path(), &["config", "path", "--config", "mine.toml"])
    );
    let output = program(home.path())
        .args(["config", "path", "--json"])
        .env("PRX_HOST_CONFIG", "mine.toml")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["named_by"], "variable");
    assert_eq!(answer["exists"], true);
}

#[test]
fn show_tells_where_each_value_came_from() {
    let home = home();
    let text = "[runtime]\nmax_output_bytes = 5000\n\
                [tools.custom.a]\nmodule = \"a.wasm\"\n\
                [tools.custom.a.config]\napi_token = \"hunter2\"\nlocale = \"de\"\n";
    fs::write(home.path().join("c.toml"), text).unwrap();
    let said = run(home.path(), &["config", "show", "--config", "c.toml"]);
    assert!(!said.contains("hunter2"), "{said}");
    // Columns are as wide as the paths of this machine.
    let lines = said.lines().map(|line| match line.split_once("  #") {
        Some((value, origin)) => format!("{}  #{origin}", value.trim_end()),
        None => line.to_owned(),
    });
    insta::assert_snapshot!("show", lines.collect::<Vec<_>>().join("\n"));
    let output = program(home.path())
        .args(["config", "show", "--config", "c.toml", "--json"])
        .output();
    let keys: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let written = keys
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["key"] == "runtime.max_output_bytes");
    assert_eq!(written.unwrap()["value"], 5000);
}

#[test]
fn a_faulty_configuration_stops_every_command_with_all_its_faults() {
    let home = home();
    fs::write(home.path().join("c.toml"), FAULTY).unwrap();
    insta::assert_snapshot!("faulty", run(home.path(), &["list", "--config", "c.toml"]));
    insta::assert_snapshot!(
        "faulty_check",
        run(home.path(), &["check", "--config", "c.toml"])
    );
    for command in [&["call", "x"][..], &["inspect", "x"], &["config", "show"]] {
        program(home.path())
            .args(["--config", "c.toml"])
            .args(command)
            .assert()
            .code(2);
    }
}

#[test]
fn in_json_mode_faults_are_json_on_standard_output() {
    let home = home();
    fs::write(home.path().join("c.toml"), FAULTY).unwrap();
    for command in ["list", "check"] {
        let output = program(home.path())
            .args([command, "--json", "--config", "c.toml"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stderr.is_empty());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let faults = if command == "check" {
            &answer["findings"]
        } else {
            &answer["error"]["faults"]
        };
        assert_eq!(faults.as_array().unwrap().len(), 2, "{answer}");
    }
}

#[test]
fn a_missing_configuration_that_was_named_is_told() {
    let home = home();
    insta::assert_snapshot!(
        "missing",
        run(home.path(), &["list", "--config", "nowhere.toml"])
    );
}

#[test]
fn warnings_are_told_once_and_counted_when_strict() {
    let home = home();
    fs::write(home.path().join("c.toml"), "[runtim]\n").unwrap();
    let said = run(home.path(), &["list", "--config", "c.toml"]);
    assert_eq!(said.matches("warning").count(), 1, "{said}");
    program(home.path())
        .args(["check", "--config", "c.toml"])
        .assert()
        .code(0);
    program(home.path())
        .args(["check", "--strict", "--config", "c.toml"])
        .assert()
        .code(2);
}

#[test]
fn colours_come_when_they_are_asked_for() {
    let home = home();
    fs::write(home.path().join("c.toml"), FAULTY).unwrap();
    for (arguments, coloured) in [
        (&["list", "--config", "c.toml"][..], false),
        (&["list", "--config", "c.toml", "--color", "always"], true),
        (&["list", "--config", "c.toml", "--color", "never"], false),
    ] {
        let said = run(home.path(), arguments);
        assert_eq!(said.contains('\x1b'), coloured, "{said}");
    }
}

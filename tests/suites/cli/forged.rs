//! Names of files, folders and exports that would forge lines of what the program says, or
//! drive the terminal that shows it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use prx_tests::fixtures::Handwritten;
use prx_tests::program;

use crate::place::Ran;

/// A part of a name that begins a line and then drives a terminal.
const EVIL: &str = "x\nforged \u{1b}[31m\u{9b}2J\u{202e}\r";

/// A folder of such a name, with a configuration and modules.
struct Forged {
    _owned: tempfile::TempDir,
    folder: PathBuf,
}

impl Forged {
    fn new(more: &str) -> Result<Self> {
        let owned = tempfile::tempdir()?;
        let folder = owned.path().join(format!("folder {EVIL}"));
        fs::create_dir_all(folder.join("modules"))?;
        let text = format!(
            "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\nstate_path = \"state\"\n{more}"
        );
        fs::write(folder.join("config.toml"), text)?;
        Ok(Self {
            _owned: owned,
            folder,
        })
    }

    fn add(&self, file: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.folder.join(file);
        fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Runs the program, and looks at what it says.
    fn run(&self, arguments: &[&str]) -> Result<Ran> {
        let output = Command::new(program()?)
            .env_clear()
            .env("HOME", &self.folder)
            .env("PATH", "/usr/bin:/bin")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .arg("--config")
            .arg(self.folder.join("config.toml"))
            .args(arguments)
            .output()
            .context("starting the program")?;
        let ran = Ran::of(output);
        if !arguments.contains(&"--json") {
            let text = format!("{}{}", ran.stdout(), ran.stderr());
            let forges = |line: &str| line.trim_start().starts_with("forged");
            ensure!(!text.lines().any(forges), "{arguments:?}: {}", ran.text());
            for letter in ['\u{1b}', '\u{9b}', '\u{202e}', '\r'] {
                ensure!(!text.contains(letter), "{arguments:?}: {text:?}");
            }
        }
        Ok(ran)
    }
}

#[test]
fn a_name_of_a_file_stays_within_its_line() -> Result<()> {
    let forged = Forged::new("")?;
    let module = Handwritten::default().build()?;
    let odd = format!("modules/odd {EVIL}.wasm");
    forged.add(&odd, &module)?;
    forged.add(&format!("modules/page {EVIL}.wasm"), b"<!DOCTYPE html>")?;
    forged.add(&format!("modules/loud {EVIL}.WASM"), b"")?;
    forged.add("modules/cut.wasm", &module[..module.len() / 2])?;
    let list = forged.run(&["list"])?;
    ensure!(
        list.stdout()
            .contains("odd x\\nforged \\u{1b}[31m\\u{9b}2J\\u{202e}\\r"),
        "{}",
        list.text()
    );
    let json = forged.run(&["list", "--json"])?.json()?;
    let paths = json.as_array().into_iter().flatten();
    let paths: Vec<_> = paths.filter_map(|one| one["module"].as_str()).collect();
    let real = forged.folder.join(&odd);
    ensure!(
        paths.iter().any(|path| real == PathBuf::from(path)),
        "{paths:?}"
    );
    for arguments in [
        &["inspect", "cut"][..],
        &["inspect", &format!("./{odd}")],
        &["inspect", &format!("./gone {EVIL}.wasm")],
        &["inspect", &format!("gone {EVIL}")],
        &["doctor"],
        &["config", "init"],
        &["run", "--backend", "wasm", "--", "cut"],
        &[
            "run",
            "--backend",
            "wasm",
            "--",
            &format!("./gone {EVIL}.wasm"),
        ],
        &[
            "run",
            "--backend",
            "native",
            "--",
            &format!("./gone {EVIL}"),
            "x",
        ],
        &["remove", "cut"],
        &["remove", &format!("gone {EVIL}")],
        &["remove", "cut", "--yes"],
    ] {
        forged.run(arguments)?;
    }
    ensure!(!forged.folder.join("modules/cut.wasm").exists());
    forged.run(&["remove", &format!("odd {EVIL}.wasm"), "--yes"])?;
    Ok(())
}

#[test]
fn what_is_installed_and_removed_is_shown_within_its_lines() -> Result<()> {
    // JSON and TOML have the same escapes.
    let granted = serde_json::Value::from(format!("./granted {EVIL}::/docs"));
    let forged = Forged::new(&format!(
        "[runtime.wasm.capabilities]\nfilesystem_read = [{granted}]\n"
    ))?;
    let module = Handwritten::default().build()?;
    let from = forged.add(&format!("from {EVIL}.wasm"), &module)?;
    let from = from.to_str().context("it is UTF-8")?;
    for arguments in [
        &["install", from][..],
        &["install", from, "--name", "answer", "--dry-run"],
        &["install", from, "--name", "answer"],
        &["install", from, "--name", "answer", "--yes"],
        &["install", from, "--name", "answer", "--yes"],
        &["list"],
        &["inspect", "answer"],
        &["remove", "answer"],
    ] {
        forged.run(arguments)?;
    }
    ensure!(forged.folder.join("modules/answer.wasm").exists());
    let other = forged.add(&format!("other {EVIL}"), &module)?;
    fs::remove_file(forged.folder.join("modules/answer.wasm"))?;
    symlink(other, forged.folder.join("modules/answer.wasm"))?;
    for arguments in [
        &["install", from, "--name", "answer"][..],
        &["list"],
        &["remove", "answer"],
        &["remove", "answer", "--yes"],
    ] {
        forged.run(arguments)?;
    }
    Ok(())
}

#[test]
fn names_that_a_module_chose_stay_within_their_lines() -> Result<()> {
    let forged = Forged::new("")?;
    // As the text format writes it.
    let evil = "x\\nforged \\u{1b}[31m\\u{9b}2J\\u{202e}\\r";
    for (name, text) in [
        ("exports", format!("(module (func (export \"{evil}\")))")),
        (
            "imports",
            format!(
                "(module (import \"{evil}\" \"{evil}\" (func)) (func (export \"_start\")) (memory (export \"memory\") 1))"
            ),
        ),
        (
            "twice",
            format!("(module (func (export \"{evil}\")) (func (export \"{evil}\")))"),
        ),
    ] {
        forged.add(&format!("modules/{name}.wasm"), &wat::parse_str(&text)?)?;
        let ran = forged.run(&["inspect", name])?;
        ensure!(ran.stdout().contains("x\\nforged "), "{}", ran.text());
        forged.run(&["run", "--backend", "wasm", "--", name])?;
        forged.run(&[
            "install",
            &format!("modules/{name}.wasm"),
            "--name",
            "other",
        ])?;
    }
    forged.run(&["list"])?;
    Ok(())
}

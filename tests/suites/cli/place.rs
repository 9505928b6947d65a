//! A folder with modules and a configuration, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result};
use prx_tests::{guest, program};
use serde_json::Value;

/// A folder of its own for each test.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// A folder with an empty module folder; `more` is added to the configuration.
    pub fn new(more: &str) -> Result<Self> {
        let place = Self {
            folder: tempfile::tempdir()?,
        };
        fs::create_dir(place.path("modules"))?;
        let text = format!(
            "[runtime.wasm]\nmodule_path = \"modules\"\ncache_path = \"cache\"\nstate_path = \"state\"\n{more}"
        );
        fs::write(place.path("config.toml"), text)?;
        Ok(place)
    }

    /// A folder with these test guests.
    pub fn with_guests(names: &[&str], more: &str) -> Result<Self> {
        let place = Self::new(more)?;
        for name in names {
            fs::copy(guest(name)?, place.module(name))?;
        }
        Ok(place)
    }

    /// A path inside.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where a module of that name lies.
    pub fn module(&self, name: &str) -> PathBuf {
        self.path("modules").join(format!("{name}.wasm"))
    }

    /// Puts a module there.
    pub fn add(&self, name: &str, bytes: &[u8]) -> Result<()> {
        Ok(fs::write(self.module(name), bytes)?)
    }

    /// The names in the folder of modules, hidden ones too, in order.
    pub fn modules(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for item in fs::read_dir(self.path("modules"))? {
            names.push(item?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The program with the configuration, nothing else around it.
    pub fn command(&self) -> Result<Command> {
        let mut command = Command::new(program()?);
        command
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", "/usr/bin:/bin");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.arg("--config").arg(self.path("config.toml"));
        Ok(command)
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Result<Ran> {
        let output = self
            .command()?
            .args(arguments)
            .output()
            .context("starting the program")?;
        Ok(Ran { output })
    }

    /// Runs the program twice, so that nothing is left to compile, and gives the second.
    pub fn run_warm(&self, arguments: &[&str]) -> Result<Ran> {
        self.run(arguments)?;
        self.run(arguments)
    }

    /// Compares what the program says with the snapshot of that name.
    pub fn snapshot(&self, name: &str, ran: &Ran) {
        let folder = self.folder.path().display().to_string();
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        // Columns are as wide as paths and times are: what is redacted can not line up.
        for (pattern, shown) in [
            (folder.as_str(), "[folder]"),
            (r"\b[0-9a-f]{64}\b", "[sha-256]"),
            (r"in \d+ ms", "in [time] ms"),
            (r"\d+(\.\d+)? (B|KiB|MiB) in", "[size] in"),
            (r"(size +)\d+(\.\d+)? (B|KiB|MiB)", "$1[size]"),
            (r#""size": \d+"#, r#""size": "[size]""#),
            (r#""duration_ms": [0-9.]+"#, r#""duration_ms": "[time]""#),
            // The compiler of the guests decides what stands below the first frame.
            (r"  at: .+(\n {6}.+)*", "  at: [frames]"),
            // The standard library of the guests decides what of WASI they import.
            (r"(  wasi:.+\n)+", "  [imports of WASI]\n"),
            (r"(\S) {3,}", "$1  "),
        ] {
            settings.add_filter(pattern, shown);
        }
        settings.bind(|| insta::assert_snapshot!(name, ran.text()));
    }
}

/// A program that has ended.
pub struct Ran {
    output: Output,
}

impl Ran {
    /// One that was started by hand.
    pub fn of(output: Output) -> Self {
        Self { output }
    }

    /// Its exit code; -1 if a signal ended it.
    pub fn code(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    /// Its standard output, as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.output.stdout
    }

    /// Its standard output.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Its standard error.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Its standard output as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.output.stdout).with_context(|| self.text())
    }

    /// Everything.
    pub fn text(&self) -> String {
        let (code, out, err) = (self.code(), self.stdout(), self.stderr());
        format!("exit code: {code}\n--- standard output\n{out}--- standard error\n{err}")
    }
}

/// Whether a file exists and is not empty.
pub fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

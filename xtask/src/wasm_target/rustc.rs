//! The compiler that cargo will use, and whether it really compiles for the target:
//! files of another version in its folders would mislead a mere look.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::TARGET;
use crate::command;

/// A program that needs the standard library, its allocator and WASI.
const PROBE: &str = "pub fn main() { println!(\"{}\", std::env::args().count()); }\n";

/// The rustc in use.
pub struct Rustc {
    program: OsString,
    /// For instance `1.95.0`.
    pub version: String,
}

impl Rustc {
    /// Finds what cargo would use: `RUSTC`, else the one on the `PATH`.
    pub fn in_use() -> Result<Self> {
        let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let said = command::output(Command::new(&program).arg("--version"))?;
        Ok(Self {
            program,
            version: version_of(&said)?.to_owned(),
        })
    }

    /// Where the standard library of a target lies.
    pub fn target_libdir(&self, target: &str) -> Result<PathBuf> {
        let mut rustc = Command::new(&self.program);
        let said = command::output(rustc.args(["--print", "target-libdir", "--target", target]))?;
        Ok(PathBuf::from(said.trim_end()))
    }

    /// Whether a program for the target type-checks, with the flags that the environment
    /// gives to cargo.
    pub fn compiles(&self) -> Result<()> {
        self.probe("metadata", &[])
    }

    /// Whether a program for the target also links, with these flags too.
    pub fn links(&self, flags: &[OsString]) -> Result<()> {
        self.probe("link", flags)
    }

    fn probe(&self, emit: &str, flags: &[OsString]) -> Result<()> {
        let work = tempfile::tempdir().context("could not make a temporary folder")?;
        let of_environment = std::env::var(FLAGS_VARIABLE).unwrap_or_default();
        std::fs::write(work.path().join("probe.rs"), PROBE)?;
        for kind in ["bin", "cdylib"] {
            let mut rustc = Command::new(&self.program);
            rustc
                .current_dir(work.path())
                .args([
                    "--target",
                    TARGET,
                    "--crate-type",
                    kind,
                    "--emit",
                    emit,
                    "probe.rs",
                ])
                .args(of_environment.split_whitespace())
                .args(flags);
            command::quietly(&mut rustc)?;
        }
        Ok(())
    }
}

/// Makes rustc look for the standard library in that folder; its tools it still
/// finds in its own.
pub fn sysroot_flag(sysroot: &Path) -> OsString {
    let mut flag = OsString::from("--sysroot=");
    flag.push(sysroot);
    flag
}

/// The line that makes cargo do so for the target.
pub fn line_for(sysroot: &Path) -> String {
    let flag = sysroot_flag(sysroot);
    format!("{FLAGS_VARIABLE}='{}'", flag.to_string_lossy())
}

/// The variable whose flags cargo uses for the target, and for it only.
const FLAGS_VARIABLE: &str = "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS";

/// `1.95.0` of `rustc 1.95.0 (59807616e 2026-04-14)`.
fn version_of(said: &str) -> Result<&str> {
    match said.split_whitespace().collect::<Vec<_>>()[..] {
        ["rustc", version, ..] => Ok(version),
        _ => bail!(
            "`rustc --version` printed `{}`, which is no version",
            said.trim()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_second_word() {
        assert_eq!(
            version_of("rustc 1.95.0 (59807616e 2026-04-14)\n").unwrap(),
            "1.95.0"
        );
        assert_eq!(
            version_of("rustc 1.97.0-nightly").unwrap(),
            "1.97.0-nightly"
        );
        assert!(version_of("").is_err());
        assert!(version_of("clippy 0.1").is_err());
    }

    #[test]
    fn the_line_to_paste_names_the_folder() {
        assert_eq!(
            line_for(Path::new("/x/own")),
            "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS='--sysroot=/x/own'"
        );
    }
}

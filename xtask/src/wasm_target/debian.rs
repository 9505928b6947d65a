//! The standard library for wasm32-wasip2 from Debian's `rust-src` and `wasi-libc`.
//! Needs no root: lists and packages stay in a private folder, and apt checks the
//! signatures against Debian's own key ring as always.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::TARGET;
use crate::{command, workspace};

/// Suites that carry a recent rustc.
const SUITES: [&str; 2] = ["trixie-backports", "sid"];

/// Used when this machine's own sources name no mirror of Debian.
const MIRROR: &str = "http://deb.debian.org/debian";

const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// What was built: files that belong into the target's folder.
pub struct Built {
    /// The standard library.
    pub libraries: Vec<PathBuf>,
    /// Objects and archives of wasi-libc, for the folder `self-contained`.
    pub self_contained: Vec<PathBuf>,
}

/// Fetches the sources of exactly that version and compiles them in `work`.
pub fn build(version: &str, work: &Path) -> Result<Built> {
    let tree = fetch(version, work)?;
    let self_contained = wasi_libc(&tree)?;
    let library = tree.join(format!("usr/src/rustc-{version}/library"));
    if !library.join("std").is_dir() {
        bail!("Debian's rust-src has no `usr/src/rustc-{version}/library`");
    }
    // rustc looks for the libraries that `libc` links in a folder that it is told.
    let link_dir = work.join("self-contained");
    fs::create_dir(&link_dir)?;
    for file in &self_contained {
        fs::copy(
            file,
            link_dir.join(file.file_name().context("a file has a name")?),
        )?;
    }
    let libraries = compile(&library, &link_dir, work)?;
    Ok(Built {
        libraries,
        self_contained,
    })
}

/// Downloads and unpacks the two packages; gives the folder that stands for `/`.
fn fetch(version: &str, work: &Path) -> Result<PathBuf> {
    for tool in ["apt-get", "dpkg-deb"] {
        if !command::exists(tool) {
            bail!("this is not Debian: there is no `{tool}`");
        }
    }
    let keyring = KEYRINGS
        .iter()
        .find(|path| Path::new(path).exists())
        .with_context(|| format!("this is not Debian: there is no `{}`", KEYRINGS[0]))?;
    for folder in ["lists/partial", "cache/archives/partial", "debs", "tree"] {
        fs::create_dir_all(work.join(folder))?;
    }
    fs::write(work.join("sources.list"), sources_list(keyring, &mirror()))?;
    command::quietly(apt(work).arg("update"))?;
    let source = format!("rust-src={version}*");
    let mut download = apt(work);
    download
        .args(["download", &source, "wasi-libc"])
        .current_dir(work.join("debs"));
    command::quietly(&mut download)
        .with_context(|| format!("Debian has no sources of exactly rustc {version}"))?;
    let tree = work.join("tree");
    for package in files_in(&work.join("debs"))? {
        command::quietly(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&tree))?;
    }
    Ok(tree)
}

/// apt with lists, packages and caches of its own.
fn apt(work: &Path) -> Command {
    let mut apt = Command::new("apt-get");
    apt.args([
        "-qq",
        "-o",
        "Dir::Etc::SourceParts=/dev/null",
        "-o",
        "APT::Sandbox::User=root",
    ]);
    for (key, place) in [
        ("Dir::Etc::SourceList", "sources.list"),
        ("Dir::State::Lists", "lists"),
        ("Dir::Cache", "cache"),
    ] {
        apt.arg("-o")
            .arg(format!("{key}={}", work.join(place).display()));
    }
    apt
}

/// The mirror that this machine uses.
fn mirror() -> String {
    let mut apt = Command::new("apt-get");
    apt.args([
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
    ]);
    // A machine without sources of its own can still reach Debian's.
    let said = command::output(&mut apt).unwrap_or_default();
    mirror_in(&said).unwrap_or(MIRROR).to_owned()
}

fn mirror_in(index_targets: &str) -> Option<&str> {
    index_targets
        .lines()
        .find(|uri| uri.trim_end_matches('/').ends_with("/debian"))
}

fn sources_list(keyring: &str, mirror: &str) -> String {
    let mut list = String::new();
    for suite in SUITES {
        let _ = writeln!(list, "deb [signed-by={keyring}] {mirror} {suite} main");
    }
    list
}

/// The archives and start-up objects of wasi-libc.
fn wasi_libc(tree: &Path) -> Result<Vec<PathBuf>> {
    let folder = tree.join("usr/lib").join(TARGET);
    let mut files = files_in(&folder).context("Debian's wasi-libc does not know the target")?;
    files.retain(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let extension = path.extension().unwrap_or_default();
        extension == "a" || (name.starts_with("crt1") && extension == "o")
    });
    Ok(files)
}

/// Compiles the standard library; gives its files.
fn compile(library: &Path, link_dir: &Path, work: &Path) -> Result<Vec<PathBuf>> {
    let project = work.join("build");
    fs::create_dir_all(project.join("src"))?;
    fs::write(
        project.join("Cargo.toml"),
        "[package]\nname = \"std-only\"\nedition = \"2021\"\n\n[workspace]\n\n[profile.release]\ndebug = 0\n",
    )?;
    fs::write(project.join("src/lib.rs"), "")?;
    let target_dir = work.join("target");
    let flags = [
        format!("-Lnative={}", link_dir.display()),
        "-Cforce-unwind-tables=no".to_owned(),
        "-Cembed-bitcode=yes".to_owned(),
    ];
    let mut cargo = Command::new(workspace::cargo_program());
    cargo
        .current_dir(&project)
        .args(["build", "--quiet", "--release", "--target", TARGET])
        .args([
            "-Z",
            "build-std=std,panic_abort,panic_unwind,proc_macro,test",
        ])
        // `-Z build-std` in a stable cargo, and its own switch for sources that lie elsewhere.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_TESTS_ONLY_SRC_ROOT", library)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", &target_dir);
    command::quietly(&mut cargo)?;
    let mut built = files_in(&target_dir.join(TARGET).join("release/deps"))?;
    built.retain(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        path.extension()
            .is_some_and(|extension| extension == "rlib")
            && !name.starts_with("libstd_only")
    });
    Ok(built)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("could not read `{}`", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_first_that_carries_debian_itself() {
        let said = "https://packages.example.com/tools\nhttp://mirror.example.org/debian-security/\n\
                    http://mirror.example.org/debian/\nhttp://deb.debian.org/debian\n";
        assert_eq!(mirror_in(said), Some("http://mirror.example.org/debian/"));
        assert_eq!(mirror_in(""), None);
    }

    #[test]
    fn packages_are_taken_only_signed() {
        let list = sources_list("/k.gpg", "http://m/debian");
        assert_eq!(
            list,
            "deb [signed-by=/k.gpg] http://m/debian trixie-backports main\n\
             deb [signed-by=/k.gpg] http://m/debian sid main\n"
        );
    }
}

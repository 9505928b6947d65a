//! The programs that tests run, and the Debian packages that have them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command;

/// Program and package.
const NEEDED: [(&str, &str); 7] = [
    ("bwrap", "bubblewrap"),
    ("dockerd", "docker.io"),
    ("docker-registry", "docker-registry"),
    ("ip", "iproute2"),
    ("rsync", "rsync"),
    ("setpriv", "util-linux"),
    ("tar", "tar"),
];

const BUSYBOX: &str = "busybox-static";

/// Where programs are, also those for administrators.
const FOLDERS: [&str; 6] = [
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// Installs what is missing, if it may; gives a busybox that needs no libraries.
pub fn ensure() -> Result<PathBuf> {
    let missing = missing();
    if !missing.is_empty() {
        install(&missing)?;
    }
    let still = self::missing();
    if !still.is_empty() {
        bail!("installed, but not to be found: {}", still.join(" "));
    }
    busybox().context("there is no busybox")
}

/// A program by its name.
pub fn find(program: &str) -> Option<PathBuf> {
    let of_path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&of_path).chain(FOLDERS.map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn missing() -> Vec<&'static str> {
    let mut missing: Vec<_> = NEEDED
        .iter()
        .filter(|(program, _)| find(program).is_none())
        .map(|(_, package)| *package)
        .collect();
    if busybox().is_none() {
        missing.push(BUSYBOX);
    }
    missing
}

/// In an image of its own there are no libraries.
fn busybox() -> Option<PathBuf> {
    find("busybox").filter(|path| is_static(path))
}

fn is_static(program: &Path) -> bool {
    const LOADER: &[u8] = b"/ld-linux";
    std::fs::read(program).is_ok_and(|bytes| {
        let mut windows = bytes.windows(LOADER.len());
        !windows.any(|window| window == LOADER)
    })
}

fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !command::exists("apt-get") || !super::is_root()? {
        bail!("install what Debian calls: {names} (`sudo apt-get install {names}`)");
    }
    println!("installing {names}");
    command::quietly(Command::new("apt-get").args(["-qq", "update"]))?;
    command::quietly(
        Command::new("apt-get")
            .args(["-qq", "install", "--yes", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

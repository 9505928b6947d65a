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

/// Installs what services need and is missing, if it may; gives a busybox that needs no
/// libraries.
pub fn of_services() -> Result<PathBuf> {
    ensure(&NEEDED)?;
    if busybox().is_none() {
        install(&[BUSYBOX])?;
    }
    busybox().context("installed, but there is no busybox without libraries")
}

/// Installs the packages of those programs that are missing, if it may.
pub fn ensure(programs: &[(&str, &'static str)]) -> Result<()> {
    let missing = missing(programs);
    if !missing.is_empty() {
        install(&missing)?;
    }
    let still = self::missing(programs);
    if !still.is_empty() {
        bail!("installed, but not to be found: {}", still.join(" "));
    }
    Ok(())
}

/// A program by its name.
pub fn find(program: &str) -> Option<PathBuf> {
    let of_path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&of_path).chain(FOLDERS.map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn missing(programs: &[(&str, &'static str)]) -> Vec<&'static str> {
    let missing = programs.iter();
    let missing = missing.filter(|(program, _)| find(program).is_none());
    missing.map(|(_, package)| *package).collect()
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

/// Installs packages, if it may.
pub fn install(packages: &[&str]) -> Result<()> {
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

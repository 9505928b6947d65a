//! The image of the tests: a busybox with all its names, a variable, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::engine::Socket;
use crate::command;

/// Of the image, so that tests can tell it from this machine's.
const VARIABLE: &str = "EDITOR=vi-of-the-image";

/// Makes the image in an empty folder: an archive of its files.
pub fn pack(busybox: &Path, folder: &Path) -> Result<Vec<u8>> {
    let programs = folder.join("bin");
    fs::create_dir(&programs)?;
    fs::copy(busybox, programs.join("busybox"))?;
    for name in command::output(Command::new(busybox).arg("--list"))?.lines() {
        if name != "busybox" {
            symlink("busybox", programs.join(name))?;
        }
    }
    for (name, mode) in [("tmp", 0o1777), ("etc", 0o755), ("root", 0o700)] {
        fs::create_dir(folder.join(name))?;
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode))?;
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    // A program that nobody may run.
    fs::write(folder.join("etc/not-executable"), "text\n")?;
    packed(folder)
}

/// Makes an image of an archive.
pub fn load(engine: &Socket, packed: &[u8], image: &str) -> Result<()> {
    let (name, tag) = image.split_once(':').context("an image has a tag")?;
    let change = format!("ENV {VARIABLE}")
        .replace(' ', "%20")
        .replace('=', "%3D");
    let path = format!("/images/create?fromSrc=-&repo={name}&tag={tag}&changes={change}");
    engine.post(&path, &["Content-Type: application/x-tar"], packed)?;
    Ok(())
}

fn packed(folder: &Path) -> Result<Vec<u8>> {
    let tar = Command::new("tar")
        .args(["--numeric-owner", "--owner=0", "--group=0", "-C"])
        .arg(folder)
        .args(["-c", "."])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("could not start `tar`")?;
    if !tar.status.success() {
        bail!("`tar` failed ({})", tar.status);
    }
    Ok(tar.stdout)
}

/// Puts an image of the engine into a registry, under the same name.
pub fn push(engine: &Socket, image: &str, registry: &str) -> Result<()> {
    let (name, tag) = image.split_once(':').context("an image has a tag")?;
    let there = format!("{registry}/{name}");
    engine.post(
        &format!("/images/{image}/tag?repo={there}&tag={tag}"),
        &[],
        b"",
    )?;
    // No credentials: an empty object.
    engine.post(
        &format!("/images/{there}/push?tag={tag}"),
        &["X-Registry-Auth: e30="],
        b"",
    )?;
    Ok(())
}

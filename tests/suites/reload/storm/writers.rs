//! How programs put a file in its place: each as it is done out there, with its temporary
//! files, its pauses and the moments in which the file is away or half there.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

use super::random::Random;

/// A way to write a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Cut to nothing and written again, with pauses.
    InPlace,
    /// Written beside and renamed.
    Rename,
    /// Removed and written anew.
    DeleteFirst,
    /// As `vim` does it: a probe, a swap file, the old file as a backup, a new file.
    Vim,
    /// As `sed -i` does it.
    Sed,
    /// `cp`, which writes in place.
    Copy,
    /// `mv`, which renames.
    Move,
    /// `install`, which removes the old file first.
    Install,
    /// `rsync`, which writes a hidden file beside it and renames.
    Rsync,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::InPlace,
        Self::Rename,
        Self::DeleteFirst,
        Self::Vim,
        Self::Sed,
        Self::Copy,
        Self::Move,
        Self::Install,
        Self::Rsync,
    ];
}

/// Puts these bytes there. Answers how long the file was away at most.
pub(super) async fn put(
    way: Way,
    path: &Path,
    bytes: &[u8],
    random: &mut Random,
) -> Result<Duration> {
    let name = path.file_name().context("a file has a name")?;
    let name = name.to_string_lossy();
    let beside = |name: String| path.with_file_name(name);
    let none = Duration::ZERO;
    match way {
        Way::InPlace => {
            write_slowly(File::create(path)?, bytes, random).await?;
            Ok(none)
        }
        Way::Rename | Way::Sed => {
            let temporary = match way {
                Way::Sed => beside(format!("sed{:06}", random.below(1_000_000))),
                _ => beside(format!("{name}.tmp")),
            };
            write_slowly(File::create(&temporary)?, bytes, random).await?;
            fs::rename(&temporary, path)?;
            Ok(none)
        }
        Way::DeleteFirst => {
            let started = Instant::now();
            remove(path)?;
            let file = File::create(path)?;
            let away = started.elapsed();
            write_slowly(file, bytes, random).await?;
            Ok(away)
        }
        Way::Vim => {
            let (probe, swap) = (beside("4913".into()), beside(format!(".{name}.swp")));
            File::create(&probe)?;
            fs::remove_file(probe)?;
            fs::write(&swap, "b0VIM 9.0")?;
            let backup = beside(format!("{name}~"));
            let started = Instant::now();
            let is_there = path.exists();
            if is_there {
                fs::rename(path, &backup)?;
            }
            let mut file = File::create(path)?;
            let away = started.elapsed();
            file.write_all(bytes)?;
            drop(file);
            if is_there {
                fs::remove_file(backup)?;
            }
            fs::remove_file(swap)?;
            Ok(away)
        }
        Way::Copy | Way::Move | Way::Install | Way::Rsync => {
            let program = match way {
                Way::Copy => "cp",
                Way::Move => "mv",
                Way::Install => "install",
                _ => "rsync",
            };
            by_program(program, path, bytes).await
        }
    }
}

/// Removes a file that may be there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes in pieces, with pauses: slowness is what is tested.
async fn write_slowly(mut file: File, bytes: &[u8], random: &mut Random) -> Result<()> {
    let pieces = 1 + random.below(5);
    for piece in bytes.chunks(bytes.len().div_ceil(pieces).max(1)) {
        file.write_all(piece)?;
        let pause = random.below(12);
        tokio::time::sleep(Duration::from_millis(pause as u64)).await;
    }
    Ok(())
}

/// Has a program put the file there, from a folder that nobody watches.
async fn by_program(program: &str, path: &Path, bytes: &[u8]) -> Result<Duration> {
    let elsewhere = tempfile::Builder::new().prefix("prx-source-").tempdir()?;
    let source = elsewhere.path().join("source");
    fs::write(&source, bytes)?;
    let started = Instant::now();
    let mut command = Command::new(program);
    if program == "rsync" {
        // Else what is as long and of the same second passes for the same.
        command.arg("--ignore-times");
    }
    run(command.arg(source).arg(path)).await?;
    Ok(match program {
        "install" => started.elapsed(),
        _ => Duration::ZERO,
    })
}

/// Runs a program that must succeed.
pub(super) async fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().await;
    let output = output
        .with_context(|| format!("{command:?}: `cargo xtask test` installs what is missing"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {complaint}");
    Ok(())
}

//! A disk that is full: what is written to it ends in the middle.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_host::Host;
use prx_tests::{Stage, Versions, process};

use super::super::{module, replace};
use super::agreement::{assert_agrees, until};
use super::callers::Callers;
use super::scene::served;
use super::witness::Witness;

/// Of the whole disk: modules, configuration, and compiled modules.
const SIZE: &str = "size=4m,mode=700";

/// Where compiled modules are kept.
const CACHES: [&str; 2] = ["elsewhere", "on the full disk"];

/// Whoever made a namespace of mounts may mount a small disk in it.
#[test]
fn a_full_disk_leaves_what_serves_and_is_recovered_from() -> Result<()> {
    let test = a_full_disk_leaves_what_serves_and_is_recovered_from;
    if let Some(role) = process::role() {
        return tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?
            .block_on(on_small_disk(role));
    }
    for cache in CACHES {
        let disk = tempfile::Builder::new().prefix("prx-disk-").tempdir()?;
        let mut role = disk.path().as_os_str().to_owned();
        role.push(format!(":{cache}"));
        let line = format!("mount -t tmpfs -o {SIZE} none \"$1\" && shift && exec \"$@\"");
        process::in_namespace(&test, role, &["--mount"], &line, &[disk.path()])?;
    }
    Ok(())
}

/// What fills a disk.
struct Filler {
    path: PathBuf,
    file: File,
}

impl Filler {
    fn new(path: PathBuf) -> Result<Self> {
        let file = File::options().append(true).create(true).open(&path)?;
        Ok(Self { path, file })
    }

    /// Takes all that is left.
    fn fill(&mut self) -> Result<()> {
        for size in [1 << 16, 1 << 12] {
            let piece = vec![b'x'; size];
            loop {
                match self.file.write_all(&piece) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Leaves so much.
    fn leave(&mut self, bytes: u64) -> Result<()> {
        self.fill()?;
        let length = self.file.metadata()?.len();
        self.file.set_len(length.saturating_sub(bytes))?;
        Ok(())
    }

    fn remove(self) -> Result<()> {
        Ok(fs::remove_file(self.path)?)
    }
}

/// Writes what does not fit; what did is there.
fn write_too_much(mut file: File, bytes: &[u8]) -> Result<()> {
    let error = file.write_all(bytes).err();
    let is_full = error.is_some_and(|error| error.kind() == ErrorKind::StorageFull);
    ensure!(is_full, "{} bytes fitted", bytes.len());
    Ok(())
}

async fn on_small_disk(role: OsString) -> Result<()> {
    let role = role.to_str().context("it was made of text")?;
    let (root, cache) = role.split_once(':').context("it has two parts")?;
    let (stage, versions) = (Stage::at(Path::new(root))?, Versions::new()?);
    stage.folder("modules")?;
    let mut stage = stage
        .guests(&["echo", "trivial"])?
        .module("skill", &versions.module(1))?;
    if cache == CACHES[1] {
        stage = stage.own_cache();
    }
    stage.write_config()?;
    let host = stage.open().await?;
    let (_watching, witness) = (host.watch(), Arc::new(Witness::default()));
    let callers = Callers::start(&host, &witness, &["skill_tell"], 28);
    let filled = while_it_is_full(&stage, &versions, &host).await;
    callers.end().await?;
    filled
}

async fn while_it_is_full(stage: &Stage, versions: &Versions, host: &Host) -> Result<()> {
    let (file, config) = (module(stage, "skill.wasm"), stage.path("config.toml"));
    let mut filler = Filler::new(stage.path("filler"))?;
    // In place: the old bytes are gone, and most of the new ones have no room.
    let writer = File::create(&file)?;
    filler.leave(20_000)?;
    write_too_much(writer, &versions.module(2))?;
    serves_though_broken(host, "skill").await?;
    // Beside it, by somebody who does not look whether it succeeded.
    let beside = file.with_extension("tmp");
    let writer = File::create(&beside)?;
    filler.leave(8_000)?;
    write_too_much(writer, &versions.module(2))?;
    fs::rename(beside, &file)?;
    serves_though_broken(host, "skill").await?;
    filler.fill()?;
    let writer = File::create(&config)?;
    filler.fill()?;
    write_too_much(writer, stage.text().as_bytes())?;
    serves_though_broken(host, "(configuration)").await?;
    served(host, "skill_tell", 1).await?;
    // Room for the module, and no more: compiled, it can not be kept.
    filler.leave(100_000)?;
    fs::write(&file, versions.module(2))?;
    filler.fill()?;
    served(host, "skill_tell", 2).await?;
    filler.remove()?;
    replace(&config, stage.text().as_bytes())?;
    replace(&file, &versions.module(3))?;
    served(host, "skill_tell", 3).await?;
    assert_agrees(host, &stage.open().await?).await
}

/// Waits until something is broken and the last good version serves.
async fn serves_though_broken(host: &Host, name: &str) -> Result<()> {
    let what = format!("`{name}` is broken and serves");
    until(host, &what, |snapshot| {
        let mut broken = snapshot.broken().iter();
        broken.any(|broken| broken.name == name && broken.serving.is_some())
    })
    .await
}

//! Modules that take long to be written, and more changes than anybody could follow.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, ensure};
use prx_host::Host;
use tokio::process::Command;
use wasm_encoder::{ComponentSection as _, CustomSection};

use super::super::{module, replace, stage};
use super::agreement::{assert_agrees, until};
use super::callers::Callers;
use super::scene::{SETTLE, Scene, TARGETS, Target, served};
use super::witness::Witness;
use super::writers::run;

const MIB: usize = 1 << 20;
/// Of a large module.
const SIZE: usize = 40 * MIB;
/// In a storm of changes.
const CHANGES: u32 = 1000;

/// The same module, made large by what nobody reads.
fn large(mut module: Vec<u8>) -> Vec<u8> {
    let section = CustomSection {
        name: "ballast".into(),
        data: vec![b'x'; SIZE].into(),
    };
    section.append_to_component(&mut module);
    module
}

/// Writes a file in place; the host may look as often as it likes meanwhile.
async fn write_slowly(path: &Path, bytes: &[u8], host: &Host) -> Result<()> {
    let mut file = File::create(path)?;
    for piece in bytes.chunks(MIB) {
        file.write_all(piece)?;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Complete, and still open.
    until(host, "it is being written", |snapshot| {
        let mut broken = snapshot.broken().iter();
        broken.any(|broken| broken.reason.contains("being written"))
    })
    .await?;
    drop(file);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_module_that_is_written_slowly_makes_no_gap_and_is_never_taken_by_half()
-> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let (_watching, witness) = (host.watch(), Arc::new(Witness::default()));
    let callers = Callers::start(&host, &witness, &["skill_tell"], 40);
    let file = module(&stage, "skill.wasm");
    write_slowly(&file, &large(versions.module(2)), &host).await?;
    served(&host, "skill_tell", 2).await?;
    // By programs, over it and to a name that is new.
    let source = stage.path("large.wasm");
    fs::write(&source, large(versions.module(3)))?;
    run(Command::new("cp").arg(&source).arg(&file)).await?;
    served(&host, "skill_tell", 3).await?;
    run(Command::new("cp")
        .arg(&source)
        .arg(module(&stage, "new.wasm")))
    .await?;
    served(&host, "new_tell", 3).await?;
    let gap = Instant::now();
    fs::remove_file(&file)?;
    fs::rename(source, &file)?;
    if gap.elapsed() >= SETTLE {
        witness.may_be_missed("skill_tell", gap);
    }
    assert_agrees(&host, &stage.open().await?).await?;
    callers.end().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_module_is_there_when_it_is_complete_and_not_before() -> Result<()> {
    let (stage, versions) = stage()?;
    let host = stage.open().await?;
    let _watching = host.watch();
    let (file, bytes) = (module(&stage, "new.wasm"), large(versions.module(4)));
    let mut writer = File::create(&file)?;
    for piece in bytes.chunks(SIZE / 4) {
        writer.write_all(piece)?;
        let reloaded = host.reload().await;
        ensure!(reloaded.tool("new_tell").is_none(), "it is not complete");
    }
    drop(writer);
    served(&host, "new_tell", 4).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_changes_without_a_pause_end_as_a_fresh_start() -> Result<()> {
    let mut scene = Scene::new(1000).await?;
    let begun = scene.host.snapshot().number();
    for change in 0..CHANGES {
        let Target { file, .. } = scene.random.one_of(&TARGETS);
        let (path, version) = (scene.stage.path(file), scene.version());
        match scene.random.below(4) {
            0 => replace(&path, &scene.versions.module(version))?,
            1 => fs::write(&path, scene.versions.module(version))?,
            2 => {
                if let Ok(file) = File::options().append(true).open(&path) {
                    file.set_modified(SystemTime::now())?;
                }
            }
            _ => {
                let beside = path.with_extension(format!("{change}.wasm~"));
                fs::write(&beside, "beside it")?;
                fs::remove_file(beside)?;
            }
        }
        if change % 100 == 0 {
            scene.vanish().await?;
        }
        tokio::task::yield_now().await;
    }
    scene.calm().await?;
    let made = scene.host.snapshot().number() - begun;
    ensure!(made < u64::from(CHANGES) / 4, "{made} snapshots");
    scene.callers.end().await?;
    Ok(())
}

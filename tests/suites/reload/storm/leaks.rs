//! What a process holds after storms: nothing that it did not hold before.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use prx_tests::process::{self, Held};

use super::agreement::SOON;
use super::scene::Scene;
use super::storm;

/// How many folders each watcher of this process watches.
fn watches() -> Result<Vec<usize>> {
    let mut watches = Vec::new();
    for handle in fs::read_dir("/proc/self/fd")? {
        let handle = handle?;
        let is_watcher = fs::read_link(handle.path())
            .is_ok_and(|target| target == Path::new("anon_inode:inotify"));
        if is_watcher {
            let about = Path::new("/proc/self/fdinfo").join(handle.file_name());
            let about = fs::read_to_string(about)?;
            let lines = about.lines();
            watches.push(lines.filter(|line| line.starts_with("inotify ")).count());
        }
    }
    Ok(watches)
}

/// Waits for what another thread does when it gets round to it.
async fn eventually(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let waited = tokio::time::timeout(SOON, async {
        while !is_so()? {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        anyhow::Ok(())
    });
    match waited.await {
        Ok(ended) => ended,
        Err(_) => anyhow::bail!("never: {what}; {:?}", watches()?),
    }
}

fn alone<F: Future<Output = Result<()>>>(test: F) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?
        .block_on(test)
}

#[test]
fn storms_leave_no_descriptor_no_thread_no_mapping_and_no_watch() -> Result<()> {
    if !process::is_alone(&storms_leave_no_descriptor_no_thread_no_mapping_and_no_watch)? {
        return Ok(());
    }
    alone(async {
        let no_watch = || Ok(watches()?.is_empty());
        // What is made once and stays.
        storm(10, 20).await?;
        eventually("no watch", no_watch).await?;
        let before = Held::now()?;
        for seed in 11..14 {
            storm(seed, 40).await?;
        }
        eventually("no watch", no_watch).await?;
        // What was being read when its host was dropped is read to its end.
        let is_so = || Ok(Held::assert_not_grown(before).is_ok());
        let waited = eventually("nothing more is held", is_so).await;
        waited.and_then(|()| Held::assert_not_grown(before))
    })
}

#[test]
fn after_a_storm_the_same_folders_are_watched_as_by_a_fresh_host() -> Result<()> {
    if !process::is_alone(&after_a_storm_the_same_folders_are_watched_as_by_a_fresh_host)? {
        return Ok(());
    }
    alone(async {
        let mut scene = Scene::new(20).await?;
        for _ in 0..60 {
            scene.step().await?;
        }
        scene.calm().await?;
        ensure!(watches()?.len() == 1, "{:?}", watches()?);
        let fresh = scene.fresh().await?;
        let _watching = fresh.watch();
        eventually("both watch the same", || {
            let watches = watches()?;
            Ok(watches.len() == 2 && watches[0] > 3 && watches[0] == watches[1])
        })
        .await?;
        scene.callers.end().await?;
        Ok(())
    })
}

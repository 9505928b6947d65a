//! Storms: files change in every way and in random order, while eight callers call without
//! pause. Whatever happens, an answer belongs to the snapshot that gave it, nothing is
//! missed that was not away, and in the end the host is where a fresh start would be.
//!
//! `PRX_STORM_SEED` has one storm again; `PRX_STORM_STEPS` makes storms longer or shorter.

mod agreement;
mod callers;
mod contents;
mod full_disk;
mod held;
mod large;
mod leaks;
mod random;
mod scene;
mod steps;
mod twins;
mod witness;
mod writers;

use std::time::SystemTime;

use anyhow::{Context as _, Result, bail, ensure};

use super::modules::give_up_reading_everything;
use scene::Scene;

/// Steps of a storm.
const STEPS: usize = 60;
/// Storms that are always the same.
const SEEDS: [u64; 2] = [1, 2];

#[test]
fn whatever_is_done_to_files_nobody_who_calls_is_wronged() -> Result<()> {
    let given = |name| std::env::var(name).ok().map(|text| text.parse::<u64>());
    let steps = given("PRX_STORM_STEPS").transpose()?;
    let steps = steps.map_or(Ok(STEPS), usize::try_from)?;
    let mut seeds = Vec::from_iter(given("PRX_STORM_SEED").transpose()?);
    if seeds.is_empty() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        seeds.extend(SEEDS.into_iter().chain([now.as_secs()]));
    }
    for seed in seeds {
        // Root reads everything, and here somebody may not.
        let storm = std::thread::spawn(move || {
            give_up_reading_everything()?;
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?
                .block_on(storm(seed, steps))
        });
        storm
            .join()
            .expect("it does not panic")
            .with_context(|| format!("to have it again: PRX_STORM_SEED={seed}"))?;
    }
    Ok(())
}

async fn storm(seed: u64, steps: usize) -> Result<()> {
    let mut scene = Scene::new(seed).await?;
    let mut blown = Ok(());
    for _ in 0..steps {
        blown = scene.step().await;
        if blown.is_err() || scene.callers.have_ended() {
            break;
        }
    }
    if blown.is_ok() && !scene.callers.have_ended() {
        blown = scene.calm().await;
    }
    let Scene {
        callers,
        done,
        host,
        witness,
        ..
    } = scene;
    let (snapshots, answers) = match (blown, callers.end().await) {
        (Ok(()), Ok(figures)) => figures,
        (blown, called) => {
            let faults = [blown.err(), called.err()].into_iter().flatten();
            let faults: Vec<_> = faults.map(|fault| format!("{fault:#}")).collect();
            bail!("{}\nafter\n  {}", faults.join("\nand "), done.join("\n  "));
        }
    };
    ensure!(snapshots > 2, "only {snapshots} snapshots were seen");
    eprintln!("seed {seed}: {snapshots} snapshots, {answers} answers");
    let last = host.reload().await;
    witness.assert_released(&last)
}

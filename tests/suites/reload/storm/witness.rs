//! Who sees every snapshot and judges every answer by it.
//!
//! Invariant: description, answer and number of a snapshot belong together, whatever
//! happens on disk; and a tool that was never away is never missed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use prx_host::model::{CallReport, Outcome};
use prx_host::{Module, Snapshot};

/// What is known of the snapshots of one host.
#[derive(Default)]
pub(super) struct Witness(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    snapshots: BTreeMap<u64, Sight>,
    /// Since when a tool may be missed.
    away: BTreeMap<String, Instant>,
    /// When it was missed first, and what the caller was told.
    missed: BTreeMap<String, (Instant, String)>,
    modules: Vec<Weak<Module>>,
    answers: u64,
    /// Answers of snapshots that came and went before anybody saw them.
    unseen: u64,
}

/// One snapshot that was seen.
struct Sight {
    snapshot: Weak<Snapshot>,
    /// What each tool says of itself.
    tools: BTreeMap<String, String>,
}

impl Witness {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a snapshot.
    pub fn see(&self, snapshot: &Arc<Snapshot>) -> Result<()> {
        let number = snapshot.number();
        let mut seen = self.seen();
        if let Some(sight) = seen.snapshots.get(&number) {
            let is_same = sight.snapshot.as_ptr() == Arc::as_ptr(snapshot);
            ensure!(is_same, "two snapshots have the number {number}");
            return Ok(());
        }
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for tool in snapshot.tools() {
            if let Some(module) = tool.entry().module() {
                seen.modules.push(Arc::downgrade(module));
            }
            if tool.spec().description.starts_with("version-") {
                let of_entry = versions.entry(tool.entry().name()).or_default();
                of_entry.insert(&tool.spec().description);
            }
        }
        let mixed = versions.iter().find(|(_, versions)| versions.len() > 1);
        ensure!(mixed.is_none(), "snapshot {number} is mixed: {mixed:?}");
        let tools = snapshot.tools();
        let tools = tools.map(|tool| (tool.name().to_owned(), tool.spec().description.clone()));
        let sight = Sight {
            snapshot: Arc::downgrade(snapshot),
            tools: tools.collect(),
        };
        seen.snapshots.insert(number, sight);
        Ok(())
    }

    /// From now on a tool may be missed.
    pub fn may_be_missed(&self, tool: &str, since: Instant) {
        let mut seen = self.seen();
        seen.away.entry(tool.to_owned()).or_insert(since);
    }

    /// Judges how a call of a tool ended that tells its version.
    pub fn judge(&self, tool: &str, report: &CallReport) -> Result<()> {
        let number = report.snapshot;
        let mut seen = self.seen();
        seen.answers += 1;
        let sight = seen.snapshots.get(&number);
        let described = sight.map(|sight| sight.tools.get(tool).cloned());
        match (&report.outcome, described) {
            (Outcome::Ok(output), Some(Some(described))) => {
                let answer = output.text();
                ensure!(
                    answer == described,
                    "`{tool}` answered {answer}, and snapshot {number} says {described}"
                );
            }
            (Outcome::Ok(output), None) => {
                let answer = output.text();
                ensure!(answer.starts_with("version-"), "`{tool}`: {answer}");
                seen.unseen += 1;
            }
            (Outcome::Ok(_), Some(None)) => {
                bail!("`{tool}` answered, and snapshot {number} does not have it");
            }
            (
                told @ (Outcome::UnknownTool { .. } | Outcome::Unavailable { .. }),
                None | Some(None),
            ) => {
                let miss = || (Instant::now(), format!("in snapshot {number}: {told:?}"));
                seen.missed.entry(tool.to_owned()).or_insert_with(miss);
            }
            (other, _) => bail!("`{tool}` of snapshot {number}: {other:?}"),
        }
        Ok(())
    }

    /// Proves that only those were missed that were away, and not sooner; answers what was
    /// seen: snapshots, and answers.
    pub fn verdict(&self) -> Result<(usize, u64)> {
        let seen = self.seen();
        for (tool, (missed, told)) in &seen.missed {
            let away = seen.away.get(tool);
            let away = away.with_context(|| format!("`{tool}` was never away, and {told}"))?;
            ensure!(away <= missed, "`{tool}` was not away yet, and {told}");
        }
        ensure!(seen.answers > 0, "nobody called");
        let most = seen.answers / 10;
        ensure!(seen.unseen <= most, "{} answers unseen", seen.unseen);
        Ok((seen.snapshots.len(), seen.answers))
    }

    /// Proves that of all modules ever seen only those of this snapshot are left.
    pub fn assert_released(&self, now: &Snapshot) -> Result<()> {
        let current: BTreeSet<_> = now
            .tools()
            .filter_map(|tool| tool.entry().module())
            .map(Arc::as_ptr)
            .collect();
        let seen = self.seen();
        let left = seen.modules.iter().filter_map(Weak::upgrade);
        let kept: BTreeSet<_> = left
            .filter(|module| !current.contains(&Arc::as_ptr(module)))
            .map(|module| module.path().to_owned())
            .collect();
        ensure!(kept.is_empty(), "old modules are kept: {kept:?}");
        Ok(())
    }
}

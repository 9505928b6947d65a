//! A stage with one tool for each kind of place that a module can lie in, a host that
//! follows it, and those who call.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use prx_host::config::{Config, Environment};
use prx_host::{Host, Watching};
use prx_tests::{Stage, Versions};

use super::agreement::{assert_agrees, until};
use super::callers::Callers;
use super::held::Held;
use super::random::Random;
use super::twins::Twins;
use super::witness::Witness;
use super::writers::{self, Way};

/// How long the host waits for the end of a change, and for what is away.
pub(super) const SETTLE: Duration = Duration::from_millis(50);

/// A module file, and the tool by which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub tool: &'static str,
    pub file: &'static str,
}

const fn target(tool: &'static str, file: &'static str) -> Target {
    Target { tool, file }
}

/// Files that are written in every way.
pub(super) const TARGETS: [Target; 5] = [
    target("skill_tell", "modules/skill.wasm"),
    // Named by an entry of the configuration.
    target("said_tell", "modules/said-file.wasm"),
    // The same, outside of the module folder.
    target("outside_tell", "elsewhere/outside.wasm"),
    // In a folder of its own.
    target("own_tell", "modules/own/skill.wasm"),
    FLEETING,
];
/// Often away for long.
pub(super) const FLEETING: Target = target("fleeting_tell", "modules/fleeting.wasm");
/// Reached through a link that leads through a link.
pub(super) const LINKED: Target = target("linked_tell", "modules/linked.wasm");
/// The name that a file and a folder claim.
pub(super) const TWIN: &str = "twin_tell";

/// What is called.
const TOOLS: &[&str] = &[
    "skill_tell",
    "said_tell",
    "outside_tell",
    "own_tell",
    "fleeting_tell",
    "linked_tell",
    TWIN,
];
/// Versions of modules; few, so that they are compiled once and not in every storm.
const VERSIONS: usize = 24;

/// What a storm blows over.
pub(super) struct Scene {
    pub stage: Stage,
    pub versions: Versions,
    pub random: Random,
    pub host: Host,
    pub witness: Arc<Witness>,
    pub callers: Callers,
    pub twins: Twins,
    /// A file that is open and half written.
    pub held: Option<Held>,
    /// Names that were used once.
    pub used: u32,
    /// What was done, for a report of what went wrong.
    pub done: Vec<String>,
    begun: Instant,
    _watching: Watching,
}

impl Scene {
    /// Sets everything up.
    pub async fn new(seed: u64) -> Result<Self> {
        let versions = Versions::new()?;
        let stage = Stage::new()?;
        let outside = stage.path("elsewhere/outside.wasm");
        let stage = stage.entries(&format!(
            "[tools.custom.said]\nmodule = \"said-file.wasm\"\ntimeout_secs = 29\n\
             [tools.custom.outside]\nmodule = {:?}\n",
            outside.display().to_string()
        ));
        for folder in ["modules/own", "modules/..0", "elsewhere"] {
            stage.folder(folder)?;
        }
        for Target { file, .. } in TARGETS {
            fs::write(stage.path(file), versions.module(1))?;
        }
        fs::write(stage.path("modules/twin.wasm"), versions.module(1))?;
        fs::write(stage.path("modules/..0/linked.wasm"), versions.module(1))?;
        symlink("..0", stage.path("modules/..data"))?;
        symlink("..data/linked.wasm", stage.path(LINKED.file))?;
        stage.write_config()?;
        let host = stage.open().await?;
        let (watching, witness) = (host.watch(), Arc::new(Witness::default()));
        Ok(Self {
            callers: Callers::start(&host, &witness, TOOLS, seed),
            random: Random::new(seed),
            stage,
            versions,
            host,
            witness,
            twins: Twins::new(1),
            held: None,
            used: 0,
            done: Vec::new(),
            begun: Instant::now(),
            _watching: watching,
        })
    }

    /// Notes what is done.
    pub fn note(&mut self, what: &str) {
        self.done.push(format!("{:?} {what}", self.begun.elapsed()));
    }

    /// A version that a module can be of.
    pub fn version(&mut self) -> u32 {
        u32::try_from(1 + self.random.below(VERSIONS)).expect("there are few")
    }

    /// A file that nobody has half written.
    pub fn target(&mut self) -> Target {
        loop {
            let target = self.random.one_of(&TARGETS);
            let is_held = self.held.as_ref().is_some_and(|held| held.target == target);
            if !is_held {
                return target;
            }
        }
    }

    /// Writes a file of a tool.
    pub async fn put(&mut self, way: Way, target: Target, bytes: &[u8]) -> Result<()> {
        let path = self.stage.path(target.file);
        let started = Instant::now();
        let away = writers::put(way, &path, bytes, &mut self.random).await?;
        self.was_away(&[target.tool], started, away);
        Ok(())
    }

    /// What was away for so long that the host may have believed it may be missed.
    pub fn was_away(&self, tools: &[&str], since: Instant, away: Duration) {
        if away >= SETTLE {
            for tool in tools {
                self.witness.may_be_missed(tool, since);
            }
        }
    }

    /// All tools of modules in the module folder may be missed, if it was away for long.
    pub fn folder_was_away(&self, since: Instant, away: Duration) {
        let inside: Vec<&str> = TOOLS
            .iter()
            .copied()
            .filter(|tool| *tool != "outside_tell")
            .collect();
        self.was_away(&inside, since, away);
    }

    /// Waits until a tool is served in this version.
    pub async fn served(&self, tool: &str, version: u32) -> Result<()> {
        served(&self.host, tool, version).await
    }

    /// Waits until something of this name is said to be broken, or to be so no more.
    pub async fn said_to_be_broken(&self, name: &str, is_broken: bool) -> Result<()> {
        let what = format!("`{name}` broken: {is_broken}");
        until(&self.host, &what, |snapshot| {
            snapshot.broken().iter().any(|broken| broken.name == name) == is_broken
        })
        .await
    }

    /// The configuration file.
    pub fn config_path(&self) -> PathBuf {
        self.stage.path("config.toml")
    }

    /// A host that starts now with what there is on disk.
    pub async fn fresh(&self) -> Result<Host> {
        let (file, root) = (self.config_path(), self.stage.root());
        let environment = Environment::new(root).with("HOME", root);
        let loaded = Config::from_toml(&fs::read_to_string(&file)?, &file, &environment)
            .map_err(|faults| anyhow!("{faults}"))?;
        let builder = Host::builder(loaded.config).environment(environment);
        Ok(Box::pin(builder.open()).await?)
    }

    /// After the storm: the host is where a fresh start is, and when everything is well
    /// again, nothing is left of what was not.
    pub async fn calm(&mut self) -> Result<()> {
        self.finish_held().await?;
        let config = self.stage.text();
        super::super::replace(&self.config_path(), config.as_bytes())?;
        assert_agrees(&self.host, &self.fresh().await?).await?;
        let last = self.version();
        for target in TARGETS {
            super::super::replace(&self.stage.path(target.file), &self.versions.module(last))?;
        }
        for Target { tool, .. } in TARGETS {
            self.served(tool, last).await?;
        }
        assert_agrees(&self.host, &self.fresh().await?).await
    }
}

/// Waits until a host that follows its files serves a tool in this version.
pub(super) async fn served(host: &Host, tool: &str, version: u32) -> Result<()> {
    let expected = Versions::text(version);
    let what = format!("`{tool}` in {expected}");
    until(host, &what, |snapshot| {
        let tool = snapshot.tool(tool);
        tool.is_some_and(|tool| tool.spec().description == expected)
    })
    .await
}

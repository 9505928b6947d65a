//! Bringing a host up to what its files say now: configuration, then modules, then the
//! next snapshot.
//!
//! Invariant: one at a time, and off the path of calls. What is the same as before is no
//! new snapshot.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;

use super::change::Change;
use super::config_file::ConfigFile;
use crate::config::{Config, Environment, Serve, Setting};
use crate::events::{ConfigurationRefused, ConfigurationTaken, HostEvent};
use crate::registry::{Assembler, Patience, Snapshot, Started};
use crate::runtime::Backends;

/// What makes the snapshots of a host, one after the other.
pub(crate) struct Reconciler {
    assembler: Assembler,
    config: Arc<Config>,
    file: ConfigFile,
    number: u64,
    latest: Arc<Snapshot>,
    signal: Arc<Notify>,
}

/// What reconciling brought.
pub(crate) struct Reconciled {
    /// The configuration in force.
    pub config: Arc<Config>,
    /// A new snapshot and what is new in it; `None`: all is as it was.
    pub next: Option<(Arc<Snapshot>, Change)>,
    /// What became of the configuration file.
    pub events: Vec<HostEvent>,
    /// How soon to look again, where no event will tell.
    pub again: Option<Duration>,
}

impl Reconciler {
    /// Makes the first snapshot. `standard` is where a configuration file may appear, if
    /// there is none.
    pub async fn begin(
        mut assembler: Assembler,
        config: Arc<Config>,
        standard: Option<PathBuf>,
        patience: Patience,
    ) -> Self {
        let number = 1;
        let first = assembler.assemble(&config, number, patience).await;
        let started = Started {
            at: SystemTime::now(),
            snapshot: number,
        };
        #[cfg(feature = "wasm-runtime")]
        let signal = assembler.files.signal();
        #[cfg(not(feature = "wasm-runtime"))]
        let signal = Arc::default();
        Self {
            signal,
            file: ConfigFile::new(&config, standard, started),
            assembler,
            config,
            number,
            latest: Arc::new(first.snapshot),
        }
    }

    /// The latest snapshot.
    pub fn latest(&self) -> &Arc<Snapshot> {
        &self.latest
    }

    /// Signals that there is something to look at which no file tells of.
    pub fn signal(&self) -> Arc<Notify> {
        Arc::clone(&self.signal)
    }

    /// The environment that tools may be granted variables of.
    pub fn environment(&self) -> &Environment {
        &self.assembler.environment
    }

    /// The configuration file that is followed.
    pub fn config_file(&self) -> Option<&PathBuf> {
        self.file.path()
    }

    /// Looks at everything.
    pub async fn reconcile(&mut self, patience: Patience) -> Reconciled {
        let started = Instant::now();
        let before = self.file.broken();
        let look = self.file.look(&self.assembler.environment, patience.away);
        let number = self.number + 1;
        let is_taken = look.config.is_some();
        let needs_restart = match look.config {
            Some(config) => self.change_config(config, number),
            None => Vec::new(),
        };
        let mut events = Vec::new();
        if is_taken {
            events.push(self.taken(&needs_restart));
        }
        let refused = self
            .file
            .broken()
            .filter(|now| Some(now) != before.as_ref());
        events.extend(refused.map(|broken| {
            HostEvent::ConfigurationRefused(ConfigurationRefused {
                file: broken.place,
                reason: broken.reason,
            })
        }));
        let assembled = self
            .assembler
            .assemble(&self.config, number, patience)
            .await;
        let snapshot = assembled.snapshot.with_broken(self.file.broken());
        let mut next = None;
        if !snapshot.is_as(&self.latest) || !needs_restart.is_empty() {
            let mut change = Change::between(&self.latest, &snapshot, started.elapsed());
            change.needs_restart = needs_restart;
            change.log(self.latest.broken());
            self.number = number;
            self.latest = Arc::new(snapshot);
            next = Some((Arc::clone(&self.latest), change));
        }
        Reconciled {
            config: Arc::clone(&self.config),
            next,
            events,
            again: [look.again, assembled.again].into_iter().flatten().min(),
        }
    }

    /// That another configuration is in force.
    fn taken(&self, needs_restart: &[String]) -> HostEvent {
        let digest = self.config.digest.as_ref();
        HostEvent::ConfigurationTaken(ConfigurationTaken {
            file: self.config.file.clone(),
            version: digest.map(hexadecimal),
            needs_restart: needs_restart.to_vec(),
        })
    }

    /// Takes over another configuration; answers what of it needs a restart.
    fn change_config(&mut self, config: Arc<Config>, number: u64) -> Vec<String> {
        let (old, new) = (&self.config, &config);
        let needs_restart = needs_restart(old, new);
        let is_same_runtime = old.runtime == new.runtime
            && old.sandbox == new.sandbox
            && old.resources == new.resources;
        if !is_same_runtime {
            self.assembler.backends = Backends::new(new, &self.assembler.environment);
        }
        self.config = config;
        self.file.took_effect(Started {
            at: SystemTime::now(),
            snapshot: number,
        });
        needs_restart
    }
}

fn hexadecimal(digest: &[u8; 32]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Keys that a running host can not change: its engine, its compile cache and its state
/// are open.
fn needs_restart(old: &Config, new: &Config) -> Vec<String> {
    let served = needs_restart_to_serve(&old.serve, &new.serve);
    let (old, new) = (&old.runtime.wasm, &new.runtime.wasm);
    let changed = [
        (old.engine != new.engine, new.engine.origin()),
        (old.cache_path != new.cache_path, new.cache_path.origin()),
        (
            old.cache_max_bytes != new.cache_max_bytes,
            new.cache_max_bytes.origin(),
        ),
        (old.state_path != new.state_path, new.state_path.origin()),
    ];
    let changed = changed.into_iter().filter(|(is_changed, _)| *is_changed);
    changed
        .map(|(_, origin)| origin)
        .chain(served)
        .map(|origin| format!("{origin} takes effect when the host is started again"))
        .collect()
}

/// Keys that a running server can not change: it listens, and its limits are counted.
fn needs_restart_to_serve(old: &Serve, new: &Serve) -> Vec<String> {
    /// The origin of a key that may be absent, which is a change too.
    fn origin<T: PartialEq>(old: Option<&Setting<T>>, new: Option<&Setting<T>>) -> Option<String> {
        if old == new {
            return None;
        }
        match (new, old) {
            (Some(setting), _) => Some(setting.origin()),
            (None, old) => old.map(|old| format!("{} (removed)", old.key)),
        }
    }
    fn plain<T: PartialEq>(old: &Setting<T>, new: &Setting<T>) -> Option<String> {
        origin(Some(old), Some(new))
    }
    let calls = plain(&old.max_calls, &new.max_calls);
    let (old, new) = (&old.http, &new.http);
    let changed = [
        calls,
        plain(&old.listen, &new.listen),
        origin(old.token.as_ref(), new.token.as_ref()),
        origin(old.tls_cert.as_ref(), new.tls_cert.as_ref()),
        origin(old.tls_key.as_ref(), new.tls_key.as_ref()),
        plain(&old.allowed_hosts, &new.allowed_hosts),
        plain(&old.allowed_origins, &new.allowed_origins),
        plain(&old.max_body_bytes, &new.max_body_bytes),
        plain(&old.max_sessions, &new.max_sessions),
        plain(&old.last_calls, &new.last_calls),
    ];
    changed.into_iter().flatten().collect()
}

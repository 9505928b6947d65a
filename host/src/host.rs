//! The host: the one place where configuration, registry, backends and calls meet.

mod calls;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, watch};

use crate::config::{Config, Environment};
use crate::dispatch::Loader;
use crate::events::{EventStream, HostEvent, ReloadCounters, of_broken};
use crate::presence::{Notice, running_hosts};
use crate::registry::{Assembler, Latest, LoadListener, Patience, Scope, Snapshot};
#[cfg(feature = "wasm-runtime")]
use crate::registry::{ModuleFiles, Modules};
use crate::reload::{self, Change, Reconciled, Reconciler, Watching};
#[cfg(feature = "wasm-runtime")]
use crate::runtime::wasm::{engine::Allocation, state::StateStore};
use crate::runtime::{Backends, RuntimeError};

/// Runs tools. Cheap to clone; all clones are the same host.
///
/// Dropping the last clone frees everything. Each call holds the [`Snapshot`] that it
/// started with.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

struct Shared {
    config: ArcSwap<Config>,
    snapshot: ArcSwap<Snapshot>,
    loader: Arc<Loader>,
    reconciler: Mutex<Reconciler>,
    environment: Environment,
    changes: watch::Sender<Arc<Change>>,
    events: EventStream,
    /// The number of the latest call.
    calls: AtomicU64,
    reloads: ReloadCounters,
    /// Says that another configuration is in force.
    configs: watch::Sender<()>,
}

/// A host that is followed and not kept.
#[derive(Clone)]
pub(crate) struct WeakHost(Weak<Shared>);

impl WeakHost {
    /// The host, if somebody still has it.
    pub fn upgrade(&self) -> Option<Host> {
        Some(Host {
            shared: self.0.upgrade()?,
        })
    }
}

/// Why a host can not be opened. What is wrong with single modules is no such reason:
/// see [`Snapshot::broken`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The WebAssembly engine can not start on this machine, or is not built in.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The host itself failed. Always a fault worth reporting.
    #[error("the host failed: {0}")]
    Internal(String),
    /// There is no configuration: the process's environment can not be read.
    #[error("the current folder can not be read: {0}")]
    Environment(#[from] std::io::Error),
}

/// Opens a [`Host`].
#[must_use]
pub struct HostBuilder {
    config: Config,
    environment: Option<Environment>,
    scope: Scope,
    listener: Option<LoadListener>,
    config_file: Option<PathBuf>,
    patience: Patience,
    #[cfg(feature = "wasm-runtime")]
    allocation: Allocation,
}

impl HostBuilder {
    /// The environment that tools may be granted variables of. Default: the process's own.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Loads only what can offer a tool of this name. For a process that makes one call:
    /// it keeps no pool of memory for others.
    pub fn only(mut self, tool: impl Into<String>) -> Self {
        self.scope = Scope::Tool(tool.into());
        #[cfg(feature = "wasm-runtime")]
        {
            self.allocation = Allocation::OnDemand;
        }
        self
    }

    /// Hears how loading comes along.
    pub fn on_load(mut self, listener: LoadListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Where a configuration file may appear, for a configuration that was made without one:
    /// [`Host::watch`] and [`Host::reload`] read it then. Not set: no file is read that
    /// the configuration does not name itself.
    pub fn config_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.config_file = Some(file.into());
        self
    }

    /// Waits at most so long for modules that must be compiled. The others are broken until
    /// [`Host::watch`] or [`Host::reload`] has them: calls hear that they are being compiled.
    pub fn wait_for_modules(mut self, time: Duration) -> Self {
        self.patience.loading = Some(time);
        self
    }

    /// How instances get their memory; for comparisons.
    #[cfg(feature = "wasm-runtime")]
    #[doc(hidden)]
    pub fn allocation(mut self, allocation: Allocation) -> Self {
        self.allocation = allocation;
        self
    }

    /// Loads all modules: those that are known from the compile cache, those that are not
    /// by compiling them. A module that can not be used is no error; see
    /// [`Snapshot::broken`].
    pub async fn open(self) -> Result<Host, OpenError> {
        let environment = match self.environment.clone() {
            Some(environment) => environment,
            None => Environment::of_process()?,
        };
        // Opening happens once and its future is large: it need not weigh on the caller's.
        Box::pin(self.open_in(environment)).await
    }

    async fn open_in(self, environment: Environment) -> Result<Host, OpenError> {
        let config = Arc::new(self.config);
        #[cfg(feature = "wasm-runtime")]
        let loader = Arc::new(Loader::open(&config, self.allocation)?);
        #[cfg(not(feature = "wasm-runtime"))]
        let loader = Arc::new(Loader);
        let assembler = Assembler {
            #[cfg(feature = "wasm-runtime")]
            modules: Modules::new(
                Arc::clone(&loader),
                StateStore::new(config.runtime.wasm.state_path.value.clone()),
            ),
            #[cfg(feature = "wasm-runtime")]
            files: ModuleFiles::new(Arc::clone(&loader), self.scope != Scope::All),
            backends: Backends::new(&config, &environment),
            environment,
            scope: self.scope,
            listener: self.listener,
            latest: Latest::default(),
        };
        let reconciler = Reconciler::begin(
            assembler,
            Arc::clone(&config),
            self.config_file,
            self.patience,
        )
        .await;
        Ok(Host::with(config, reconciler, loader))
    }
}

/// Looks at one file as a host with this configuration would: compiles it where it is not
/// known, and asks it for its tools. A file that can not be used is no error; see
/// [`Inspection::fault`](crate::Inspection::fault).
#[cfg(feature = "wasm-runtime")]
pub async fn inspect_file(
    config: &Config,
    file: impl Into<std::path::PathBuf>,
) -> Result<crate::Inspection, OpenError> {
    let (loader, file) = (Loader::open(config, Allocation::OnDemand)?, file.into());
    let inspected = tokio::task::spawn_blocking(move || loader.inspect(file)).await;
    inspected.map_err(|panic| OpenError::Internal(panic.to_string()))
}

/// The version of the WebAssembly engine; `None` in a build without one.
pub fn engine_version() -> Option<&'static str> {
    #[cfg(feature = "wasm-runtime")]
    return Some(wasmtime_environ::VERSION);
    #[cfg(not(feature = "wasm-runtime"))]
    None
}

impl Shared {
    /// Puts a new snapshot in force and tells of it; answers how soon to look again.
    fn take_over(&self, now: Reconciled) -> Option<Duration> {
        let mut events = now.events;
        if let Some((snapshot, change)) = now.next {
            let before = self.snapshot.swap(Arc::clone(&snapshot));
            let change = Arc::new(change);
            events.push(HostEvent::Snapshot(Arc::clone(&change)));
            events.extend(of_broken(&before, &snapshot));
            let is_bad = |event: &HostEvent| {
                matches!(
                    event,
                    HostEvent::Broken(_) | HostEvent::ConfigurationRefused(_)
                )
            };
            self.reloads.count(events.iter().any(is_bad), change.took);
            self.changes.send_replace(change);
        }
        for event in events {
            self.events.send(event);
        }
        now.again
    }
}

impl Host {
    fn with(config: Arc<Config>, reconciler: Reconciler, loader: Arc<Loader>) -> Self {
        let environment = reconciler.environment().clone();
        let snapshot = Arc::clone(reconciler.latest());
        for broken in snapshot.broken() {
            tracing::warn!(tool = broken.name, "{}", broken.reason);
        }
        Self {
            shared: Arc::new(Shared {
                config: ArcSwap::new(config),
                changes: watch::Sender::new(Arc::new(Change::first(&snapshot))),
                configs: watch::Sender::new(()),
                snapshot: ArcSwap::new(snapshot),
                loader,
                reconciler: Mutex::new(reconciler),
                environment,
                events: EventStream::default(),
                calls: AtomicU64::new(0),
                reloads: ReloadCounters::default(),
            }),
        }
    }

    /// Prepares to open a host with this configuration.
    pub fn builder(config: Config) -> HostBuilder {
        HostBuilder {
            config,
            environment: None,
            scope: Scope::All,
            listener: None,
            config_file: None,
            patience: Patience::NONE,
            #[cfg(feature = "wasm-runtime")]
            allocation: Allocation::default(),
        }
    }

    /// Opens a host with this configuration and the process's environment.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        Self::builder(config).open().await
    }

    /// The environment that it was opened in.
    pub(crate) fn environment(&self) -> &Environment {
        &self.shared.environment
    }

    /// The hosts of this user that are running on the same configuration file and follow
    /// their files, oldest first: this one too, if it does.
    pub fn running(&self) -> Vec<Notice> {
        running_hosts(&self.shared.environment, self.config().file.as_deref())
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        self.shared.config.load_full()
    }

    /// Follows module folder and configuration file from now on: what changes there is in
    /// force a moment later, without a gap for those who call. What can not serve leaves
    /// the last good version in its place; see [`Snapshot::broken`] and
    /// [`Broken::serving`](crate::Broken::serving).
    ///
    /// `[runtime.reload]` says how. It ends when the answer or the last clone of the host
    /// is dropped. Until then [`running_hosts`](crate::running_hosts) tells others of it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn watch(&self) -> Watching {
        reload::watch(WeakHost(Arc::downgrade(&self.shared)), true)
    }

    /// As [`watch`](Self::watch), for a host that nobody calls: others are not told of it.
    pub fn observe(&self) -> Watching {
        reload::watch(WeakHost(Arc::downgrade(&self.shared)), false)
    }

    /// Looks at everything now, whether somebody follows it or not, and answers the
    /// snapshot that is in force then.
    pub async fn reload(&self) -> Arc<Snapshot> {
        self.reconcile(Patience::NONE).await;
        self.snapshot()
    }

    /// Hears of each new snapshot, once: the latest change is always there to be read, and
    /// a slow reader misses those in between.
    pub fn changes(&self) -> watch::Receiver<Arc<Change>> {
        self.shared.changes.subscribe()
    }

    /// Hears of each configuration that takes the place of another.
    #[cfg(feature = "mcp")]
    pub(crate) fn config_changes(&self) -> watch::Receiver<()> {
        self.shared.configs.subscribe()
    }

    /// Brings the host up to what its files say. Answers how soon to look again, where no event will tell.
    pub(crate) async fn reconcile(&self, patience: Patience) -> Option<Duration> {
        let (shared, runtime) = (Arc::clone(&self.shared), Handle::current());
        // Files are slow, and some file systems never answer.
        let looking = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                let mut reconciler = shared.reconciler.lock().await;
                let now = reconciler.reconcile(patience).await;
                let is_another = !Arc::ptr_eq(&shared.config.load(), &now.config);
                shared.config.store(Arc::clone(&now.config));
                let again = shared.take_over(now);
                // Whoever hears of one finds the other in force too.
                if is_another {
                    shared.configs.send_replace(());
                }
                again
            })
        });
        looking.await.unwrap_or_else(|panic| {
            tracing::error!("looking for changes failed: {panic}");
            self.shared.reloads.count(true, Duration::ZERO);
            None
        })
    }

    /// Signals that there is something to look at which no file tells of.
    pub(crate) async fn signal(self) -> Arc<Notify> {
        self.shared.reconciler.lock().await.signal()
    }

    /// The configuration file that is followed.
    pub(crate) async fn config_file(&self) -> Option<PathBuf> {
        self.shared.reconciler.lock().await.config_file().cloned()
    }

    /// The tools of this moment, and what is broken.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// The compile cache of this host: why it is off, if it is.
    #[cfg(feature = "wasm-runtime")]
    pub fn cache_problem(&self) -> Option<&str> {
        self.shared.loader.cache().problem()
    }

    /// What this host found and kept in its cache of compiled modules.
    #[cfg(feature = "wasm-runtime")]
    pub fn cache_statistics(&self) -> crate::CacheStatistics {
        self.shared.loader.cache().statistics()
    }

    /// How much is in the cache of compiled modules, whichever host put it there. Counted
    /// at most once a minute; `None`: the cache is off. Looks at a folder, and so may block.
    #[cfg(feature = "wasm-runtime")]
    pub fn cache_contents(&self) -> Option<crate::CacheContents> {
        self.shared.loader.cache().contents()
    }
}

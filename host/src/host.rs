//! The host: the one place where configuration, registry, backends and calls meet.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::config::{Config, Environment};
use crate::dispatch::{self, Loader};
use crate::model::{CallOptions, CallReport};
#[cfg(feature = "wasm-runtime")]
use crate::registry::Modules;
use crate::registry::{Assembler, LoadListener, Scope, Snapshot};
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
    config: Arc<Config>,
    snapshot: ArcSwap<Snapshot>,
    loader: Arc<Loader>,
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
            modules: Modules {
                loader: Arc::clone(&loader),
                state: StateStore::new(config.runtime.wasm.state_path.value.clone()),
            },
            backends: Backends::new(&config, &environment),
            environment,
            listener: self.listener,
        };
        let snapshot = assembler.assemble(&config, &self.scope, 1).await;
        Ok(Host::with(config, snapshot, loader))
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

impl Host {
    fn with(config: Arc<Config>, snapshot: Snapshot, loader: Arc<Loader>) -> Self {
        for broken in snapshot.broken() {
            tracing::warn!(tool = broken.name, "{}", broken.reason);
        }
        let snapshot = ArcSwap::from_pointee(snapshot);
        Self {
            shared: Arc::new(Shared {
                config,
                snapshot,
                loader,
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
            #[cfg(feature = "wasm-runtime")]
            allocation: Allocation::default(),
        }
    }

    /// Opens a host with this configuration and the process's environment.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        Self::builder(config).open().await
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// The tools of this moment, and what is broken.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// Calls a tool by name. `arguments` is the JSON text of one object; empty text is
    /// `{}`.
    ///
    /// Never fails: how the call ended is the report's
    /// [`outcome`](CallReport::outcome). Dropping the returned future ends the call and
    /// everything that it started.
    pub async fn call(&self, name: &str, arguments: &str, options: CallOptions) -> CallReport {
        let snapshot = self.snapshot();
        dispatch::call(&snapshot, &self.shared.loader, name, arguments, options).await
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
}

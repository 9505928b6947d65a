//! Which backend runs what: adapters made from a configuration, and the choice of
//! `backend = "auto"`. The one place that knows all adapters.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::deferred::Deferred;
#[cfg(feature = "docker")]
use super::docker::DockerAdapter;
#[cfg(feature = "wasm-runtime")]
use super::modules_first::ModulesFirst;
use super::native::NativeAdapter;
#[cfg(feature = "wasm-runtime")]
use super::wasm::adapter::WasmAdapter;
use super::{Result, RuntimeAdapter, RuntimeError};
#[cfg(feature = "docker")]
use crate::config::SandboxBackend;
use crate::config::{Backend, Config, Environment};

/// The adapters of one host for commands that are no modules. Each is made by its first
/// use.
pub(crate) struct Backends {
    choice: Option<Backend>,
    native: Native,
    #[cfg(feature = "docker")]
    docker: Arc<Deferred<DockerAdapter>>,
    selection: OnceCell<Selection>,
}

/// What runs native commands: processes, or containers that are their sandbox.
enum Native {
    Processes(Arc<Deferred<NativeAdapter>>),
    #[cfg(feature = "docker")]
    Containers(Arc<Deferred<DockerAdapter>>),
}

/// What runs a command whose tool names no backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The backend.
    pub backend: Backend,
    /// Whether a command that is the name of a module runs as that module.
    pub modules_first: bool,
    /// Why, in words.
    pub reason: String,
}

impl Backends {
    pub fn new(config: &Arc<Config>, environment: &Environment) -> Self {
        Self {
            choice: config.runtime.backend.value,
            native: native(config, environment),
            #[cfg(feature = "docker")]
            docker: deferred_docker(config, environment),
            selection: OnceCell::new(),
        }
    }

    /// Runs commands on this machine.
    pub fn native(&self) -> Arc<dyn RuntimeAdapter> {
        match &self.native {
            Native::Processes(adapter) => Arc::clone(adapter) as _,
            #[cfg(feature = "docker")]
            Native::Containers(adapter) => Arc::clone(adapter) as _,
        }
    }

    /// Whether native commands are kept in a sandbox that works.
    ///
    /// # Errors
    ///
    /// When the sandbox that is asked for does not work.
    pub async fn native_is_sandboxed(&self) -> Result<bool> {
        match &self.native {
            Native::Processes(adapter) => Ok(adapter.get().await?.sandbox() != "none"),
            #[cfg(feature = "docker")]
            Native::Containers(adapter) => adapter.get().await.map(|_| true),
        }
    }

    /// Runs commands in containers of this image; `None`: of the configured one.
    #[cfg(feature = "docker")]
    #[allow(
        clippy::unnecessary_wraps,
        reason = "a build without containers has none"
    )]
    pub fn docker(&self, image: Option<&str>) -> Result<Arc<dyn RuntimeAdapter>> {
        let connection = Arc::clone(&self.docker);
        let Some(image) = image.map(str::to_owned) else {
            return Ok(connection);
        };
        let of_image = Deferred::new("docker", move || {
            let (connection, image) = (Arc::clone(&connection), image.clone());
            async move { Ok(connection.get().await?.with_image(&image)) }
        });
        Ok(of_image)
    }

    /// Runs commands in containers: not in this build.
    #[cfg(not(feature = "docker"))]
    #[allow(clippy::unused_self, reason = "as in a build with containers")]
    pub fn docker(&self, _image: Option<&str>) -> Result<Arc<dyn RuntimeAdapter>> {
        Err(without_docker())
    }

    /// What runs commands whose tools name no backend; decided by the first who asks.
    pub async fn selection(&self) -> &Selection {
        self.selection
            .get_or_init(|| async {
                let selection = self.select().await;
                tracing::info!(
                    backend = selection.backend.as_str(),
                    reason = selection.reason,
                    "selected the backend of commands"
                );
                selection
            })
            .await
    }

    async fn select(&self) -> Selection {
        let chosen = |backend, modules_first, reason| Selection {
            backend,
            modules_first,
            reason,
        };
        if let Some(backend) = self.choice {
            return chosen(backend, false, "`runtime.backend` says so".into());
        }
        let why_not = match self.reach_docker().await {
            Ok(()) => return chosen(Backend::Docker, false, "a Docker engine answers".into()),
            Err(error) => error,
        };
        let modules_first = cfg!(feature = "wasm-runtime");
        let modules = if modules_first {
            "; commands that are modules run as modules"
        } else {
            ""
        };
        chosen(
            Backend::Native,
            modules_first,
            format!("no Docker engine can be used ({why_not}){modules}"),
        )
    }

    #[cfg(feature = "docker")]
    async fn reach_docker(&self) -> Result<()> {
        self.docker.get().await.map(drop)
    }

    #[cfg(not(feature = "docker"))]
    #[allow(
        clippy::unused_async,
        reason = "a build without containers need not wait"
    )]
    async fn reach_docker(&self) -> Result<()> {
        Err(without_docker())
    }
}

fn native(config: &Arc<Config>, environment: &Environment) -> Native {
    #[cfg(feature = "docker")]
    if config.sandbox.backend.value == Some(SandboxBackend::Docker) {
        let (config, environment) = (Arc::clone(config), environment.clone());
        return Native::Containers(Deferred::new("docker", move || {
            let (config, environment) = (Arc::clone(&config), environment.clone());
            async move { DockerAdapter::for_sandbox(&config, &environment).await }
        }));
    }
    let (config, environment) = (Arc::clone(config), environment.clone());
    Native::Processes(Deferred::new("native", move || {
        let (config, environment) = (Arc::clone(&config), environment.clone());
        async move { NativeAdapter::new(&config, &environment).await }
    }))
}

#[cfg(feature = "docker")]
fn deferred_docker(
    config: &Arc<Config>,
    environment: &Environment,
) -> Arc<Deferred<DockerAdapter>> {
    let (config, environment) = (Arc::clone(config), environment.clone());
    Deferred::new("docker", move || {
        let (config, environment) = (Arc::clone(&config), environment.clone());
        async move { DockerAdapter::connect(&config, &environment).await }
    })
}

#[cfg(not(feature = "docker"))]
fn without_docker() -> RuntimeError {
    RuntimeError::Unavailable {
        backend: "docker".into(),
        reason: "this prx-host was built without it".into(),
        help: "build it with `--features docker`".into(),
    }
}

/// Makes the adapter that `runtime.backend` names, and proves that it can be used. With
/// `"auto"` it is Docker if an engine answers; else modules run as modules, and all else
/// runs on this machine.
///
/// # Errors
///
/// Which backend can not be used, why, and what to do.
pub async fn create_runtime(config: &Config) -> Result<Arc<dyn RuntimeAdapter>> {
    let environment = Environment::of_process().map_err(|error| RuntimeError::Unavailable {
        backend: config
            .runtime
            .backend
            .value
            .map_or("auto", Backend::as_str)
            .to_owned(),
        reason: format!("the current folder can not be read: {error}"),
        help: "start the host in a folder that exists".into(),
    })?;
    create_runtime_in(config, &environment).await
}

/// [`create_runtime`] with an environment that is not the process's own.
///
/// # Errors
///
/// As [`create_runtime`].
pub async fn create_runtime_in(
    config: &Config,
    environment: &Environment,
) -> Result<Arc<dyn RuntimeAdapter>> {
    let config = Arc::new(config.clone());
    let backends = Backends::new(&config, environment);
    let selection = backends.selection().await;
    match selection.backend {
        Backend::Wasm => wasm(&config, environment),
        Backend::Docker => {
            backends.reach_docker().await?;
            backends.docker(None)
        }
        Backend::Native => {
            backends.native_is_sandboxed().await?;
            let native = backends.native();
            #[cfg(feature = "wasm-runtime")]
            if selection.modules_first {
                let modules = WasmAdapter::open(&config, environment)?;
                return Ok(Arc::new(ModulesFirst::new(modules, native)));
            }
            Ok(native)
        }
    }
}

#[cfg(feature = "wasm-runtime")]
fn wasm(config: &Arc<Config>, environment: &Environment) -> Result<Arc<dyn RuntimeAdapter>> {
    Ok(Arc::new(WasmAdapter::open(config, environment)?))
}

#[cfg(not(feature = "wasm-runtime"))]
fn wasm(_config: &Arc<Config>, _environment: &Environment) -> Result<Arc<dyn RuntimeAdapter>> {
    Err(RuntimeError::Unavailable {
        backend: "wasm".into(),
        reason: "this prx-host was built without it".into(),
        help: "build it with `--features wasm-runtime`".into(),
    })
}

//! Containers: every call runs in a fresh one of an engine that speaks Docker's language.
//!
//! Invariant: a container has no more than the documents say, and is removed after its
//! call in every case; what a dead host left is swept by the next one.
//!
//! What can not be told apart: a command that a signal ended looks as one that exited with
//! 128 plus the signal's number, since the container's init process says it that way.

mod call;
mod connect;
mod container;
#[cfg(test)]
mod container_tests;
mod engine;
mod faults;
mod guard;
mod health;
mod hosts;
mod image;
mod memory;
mod plain;
mod process;
mod remove;
mod settings;
mod stop;
mod streams;
mod sweep;
mod workspace;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bollard::Docker;
use tokio::time::timeout;

use self::connect::Connection;
use self::container::Plan;
use self::faults::{DOCKER, said};
use self::hosts::Hosts;
use self::image::Pulls;
use self::remove::Caretaker;
use self::settings::Settings;
use self::stop::Stop;
use self::streams::Captures;
use self::workspace::Place;
use super::{Ending, Execution, ExecutionOutput, Result, RuntimeAdapter, RuntimeError, cancelled};
use crate::config::{Config, Environment};

pub(crate) use health::Reached;
pub use health::health;
pub use image::{PullListener, PullProgress};

/// How long a healthy engine takes to say that it is there, at the very most.
const PING: Duration = Duration::from_secs(2);

/// How long a sweep may delay a start.
const SWEEP: Duration = Duration::from_secs(10);

/// For requests that are answered when a container ends: the call's own deadline holds.
const PATIENT: Duration = Duration::from_secs(u32::MAX as u64);

/// Runs commands in containers, each in a fresh one.
///
/// * The workspace is mounted at `runtime.docker.workspace_mount_path` and is where a
///   command starts. A working folder outside of it is an error.
/// * A command runs as the user of the host, so that its files belong to that user. When
///   the host is root it runs as the owner of the workspace; is that root as well, it is
///   root without any capability. With a rootless engine it runs as the user who runs the
///   engine. Without the workspace it runs as nobody.
/// * Without a network (`network = "none"`) a command has a loopback of its own called
///   `localhost`, and knows of no name server. With Docker no network is made at all, which
///   halves the time in which a container starts, and the name comes from a file in the
///   folder for caches of this user.
/// * The time for pulling an image is not the command's: its clock starts anew when the
///   image is there.
/// * What tells the host what to do, the file of its configuration and the folder of its
///   modules, can only be read where it is in the workspace.
/// * A limit that is written and that the engine can not enforce is an error. One that is a
///   default is left out then, and the log says so.
/// * With `auto_remove = false` a container that was started stays for inspection after its
///   end. Its output is not in its log: it was handed to the caller.
///
/// A container that ended by itself is removed right after the answer, any other before it.
/// The last clone that is dropped waits, at most ten seconds, until containers of calls
/// that were answered or whose futures were dropped are removed.
#[derive(Clone)]
pub struct DockerAdapter {
    shared: Arc<Shared>,
    image: String,
    listener: Option<PullListener>,
}

struct Shared {
    settings: Settings,
    connection: Connection,
    /// The same, for requests that take as long as a command.
    patient: Docker,
    pulls: Pulls,
    hosts: Hosts,
    /// The engine has an init program, as far as is known.
    has_init: AtomicBool,
    caretaker: Caretaker,
}

impl DockerAdapter {
    /// Connects to the engine of the configuration and sweeps what hosts that are gone left
    /// behind on it.
    ///
    /// The engine is the one at `runtime.docker.socket` if that is written, else the one
    /// that `DOCKER_HOST` names, else the first that answers of Docker, rootless Docker,
    /// Podman and rootless Podman.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Unavailable`] within seconds, when no engine answers, this user may
    /// not use it, it is older than Docker 20.10 (API 1.41) or Podman 4, or it can not enforce
    /// a limit that is written.
    pub async fn connect(config: &Config, environment: &Environment) -> Result<Self> {
        let settings = Settings::of_runtime(config, environment);
        Self::with_settings(settings, config, environment).await
    }

    /// As [`connect`](Self::connect), for native commands whose sandbox is a container:
    /// `[security.sandbox.docker]` wins over `[runtime.docker]`, and the network is the
    /// sandbox's.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Sandbox`], for the same reasons.
    pub async fn for_sandbox(config: &Config, environment: &Environment) -> Result<Self> {
        let settings = Settings::of_sandbox(config, environment);
        let connected = Self::with_settings(settings, config, environment).await;
        connected.map_err(|error| match error {
            RuntimeError::Unavailable { reason, help, .. } => RuntimeError::Sandbox {
                sandbox: DOCKER,
                reason,
                help,
            },
            other => other,
        })
    }

    async fn with_settings(
        settings: Settings,
        config: &Config,
        environment: &Environment,
    ) -> Result<Self> {
        let connection = connect::connect(config, environment).await?;
        connection.engine.refuse_unenforced(&settings)?;
        for line in connection.engine.shortcomings() {
            tracing::warn!("{line}");
        }
        match timeout(SWEEP, sweep::sweep(&connection)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(error = said(&error), "nothing was swept"),
            Err(_) => tracing::warn!("the sweep took too long and was left to the next host"),
        }
        Ok(Self {
            image: settings.image.clone(),
            listener: None,
            shared: Arc::new(Shared {
                hosts: Hosts::prepare(&settings, &connection.engine),
                settings,
                patient: connection.client.clone().with_timeout(PATIENT),
                caretaker: Caretaker::new(connection.apart.clone()),
                has_init: AtomicBool::new(connection.engine.has_init),
                connection,
                pulls: Pulls::default(),
            }),
        })
    }

    /// The same engine with another image: `image` of a tool, or one of
    /// `runtime.docker.tool_images`. Costs next to nothing.
    #[must_use]
    pub fn with_image(&self, image: &str) -> Self {
        Self {
            image: image.to_owned(),
            ..self.clone()
        }
    }

    /// Tells `listener` how pulls go on that calls of this adapter begin.
    #[must_use]
    pub fn with_pull_listener(&self, listener: PullListener) -> Self {
        Self {
            listener: Some(listener),
            ..self.clone()
        }
    }

    /// Makes sure that the image is there before the first call.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Image`] when it is not and `runtime.docker.auto_pull` is off, or
    /// when it can not be pulled.
    pub async fn ensure_image(&self) -> Result<()> {
        let looked = image::look(&self.shared.connection, &self.image).await?;
        if looked.is_none() {
            self.fetch(self.listener.clone()).await?;
        }
        Ok(())
    }

    async fn fetch(&self, listener: Option<PullListener>) -> Result<image::Present> {
        let Shared {
            settings,
            connection,
            pulls,
            ..
        } = &*self.shared;
        pulls
            .fetch(
                connection,
                &self.image,
                &settings.auto_pull,
                listener.as_ref(),
            )
            .await
    }

    async fn run_in_container(&self, execution: &Execution<'_>) -> Result<ExecutionOutput> {
        let shared = &*self.shared;
        let settings = &shared.settings;
        let engine = &shared.connection.engine;
        if execution.max_memory.is_some() && !engine.limits_memory {
            return Err(engine.can_not_enforce("`max_memory_mb` of the call"));
        }
        let place = Place::of(settings, engine, execution.working_dir)?;
        let captures = || Captures::new(execution, settings.max_output);
        let (mut stop, mut started) = (Stop::of(execution), Instant::now());
        let looked = tokio::select! {
            biased;
            ending = stop.wait() => return Ok(captures().output(ending, None, started)),
            looked = image::look(&shared.connection, &self.image) => looked?,
        };
        // Who listens to the call hears of a pull that it waits for.
        let of_call = || execution.events.clone().map(image::progress_of);
        let listener = self.listener.clone().or_else(of_call);
        let present = if let Some(present) = looked {
            present
        } else {
            tokio::select! {
                biased;
                () = cancelled(execution.cancel) => {
                    return Ok(captures().output(Ending::Cancelled, None, started));
                }
                fetched = self.fetch(listener) => {
                    // The time for pulling is not the command's.
                    (stop, started) = (Stop::of(execution), Instant::now());
                    fetched?
                }
            }
        };
        let plan = Plan {
            settings,
            engine,
            place: &place,
            execution,
            image: &self.image,
            image_env: &present.env,
            has_healthcheck: present.has_healthcheck,
            hosts: shared.hosts.file(),
            init: shared.has_init.load(Relaxed),
        };
        call::run(shared, &plan, &stop, started).await
    }
}

#[async_trait]
impl RuntimeAdapter for DockerAdapter {
    async fn execute(
        &self,
        command: &str,
        args: &[String],
        env: &HashMap<String, String>,
        working_dir: Option<&Path>,
        timeout: Duration,
    ) -> Result<ExecutionOutput> {
        self.run(Execution::plain(command, args, env, working_dir, timeout))
            .await
    }

    async fn is_available(&self) -> bool {
        let client = &self.shared.connection.client;
        matches!(timeout(PING, client.ping()).await, Ok(Ok(_)))
    }

    fn name(&self) -> &'static str {
        DOCKER
    }

    async fn run(&self, execution: Execution<'_>) -> Result<ExecutionOutput> {
        self.run_in_container(&execution).await
    }
}

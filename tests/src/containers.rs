//! An adapter for containers on a workspace of its own, and what an engine still has of it.
//! The engine, its image and a registry come from `cargo xtask test`; a test that does not
//! find them fails.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;
use bollard::{API_DEFAULT_VERSION, Docker};
use prx_host::config::{Config, Environment};
use prx_host::{DockerAdapter, Execution, ExecutionOutput, Program, RuntimeAdapter as _};
use tempfile::TempDir;

/// Planted in the environment of every host; no tool may see it.
pub const SECRET: &str = "sk-planted-where-no-tool-may-see-it";

/// For calls that are expected to end by themselves.
pub const LONG: Duration = Duration::from_mins(2);

fn given(variable: &str) -> Result<String> {
    std::env::var(variable).with_context(|| {
        format!("there is no `{variable}`: run `cargo xtask test`, which starts what this needs")
    })
}

/// Whose engine the tests have. What follows from that is said here, and not found out from
/// the host, which it is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Docker, as root.
    Docker,
    /// Docker, as an ordinary user, who runs the tests.
    RootlessDocker,
    /// Podman, as root.
    Podman,
    /// Podman, as an ordinary user, who runs the tests.
    RootlessPodman,
}

impl Kind {
    /// As whoever started it says.
    pub fn given() -> Result<Self> {
        match given("PRX_TEST_ENGINE")?.as_str() {
            "docker" => Ok(Self::Docker),
            "rootless-docker" => Ok(Self::RootlessDocker),
            "podman" => Ok(Self::Podman),
            "rootless-podman" => Ok(Self::RootlessPodman),
            other => Err(anyhow!(
                "`PRX_TEST_ENGINE` has `{other}`, which is no engine"
            )),
        }
    }

    /// Whether it is Podman.
    pub fn is_podman(self) -> bool {
        matches!(self, Self::Podman | Self::RootlessPodman)
    }

    /// Whether its root is an ordinary user.
    pub fn is_rootless(self) -> bool {
        matches!(self, Self::RootlessDocker | Self::RootlessPodman)
    }

    /// The program of its command line.
    pub fn program(self) -> &'static str {
        if self.is_podman() { "podman" } else { "docker" }
    }

    /// Whether it has control groups. Ordinary users have those that systemd delegates to
    /// them, where a trial by hand says so.
    pub fn enforces_limits(self) -> bool {
        !self.is_rootless() || std::env::var_os("PRX_TEST_DELEGATED").is_some()
    }
}

/// The socket of the engine.
pub fn socket() -> Result<PathBuf> {
    given("PRX_TEST_DOCKER_SOCKET").map(PathBuf::from)
}

/// An image of the engine: a busybox.
pub fn image() -> Result<String> {
    given("PRX_TEST_IMAGE")
}

/// The same image in a registry on loopback.
pub fn image_in_registry() -> Result<String> {
    Ok(format!("{}/{}", given("PRX_TEST_REGISTRY")?, image()?))
}

/// A client of an engine, beside the adapter's own.
pub fn client(socket: &Path) -> Result<Docker> {
    let client = Docker::connect_with_unix(&socket.to_string_lossy(), 60, API_DEFAULT_VERSION)?;
    Ok(client)
}

/// A workspace, and the configuration of an adapter for it.
pub struct Yard {
    folder: TempDir,
    /// The engine.
    pub socket: PathBuf,
    /// The image.
    pub image: String,
    /// Lines of `[runtime]`.
    pub runtime: String,
    /// Lines of `[runtime.docker]`.
    pub docker: String,
}

impl Yard {
    /// With the engine and the image that are given.
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("prx-yard-").tempdir()?;
        std::fs::create_dir(folder.path().join("workspace"))?;
        Ok(Self {
            folder,
            socket: socket()?,
            image: image()?,
            runtime: String::new(),
            docker: String::new(),
        })
    }

    /// With more lines in `[runtime.docker]`.
    pub fn with(lines: &str) -> Result<Self> {
        let mut yard = Self::new()?;
        lines.clone_into(&mut yard.docker);
        Ok(yard)
    }

    /// The workspace.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// A path beside the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The environment of the host.
    pub fn environment(&self) -> Environment {
        Environment::new(self.folder.path())
            .with("HOME", self.folder.path())
            .with("PATH", "/nowhere/of/the/host")
            .with("LANG", "C.of-the-host")
            .with("EDITOR", "ed-of-the-host")
            .with("OPENAI_API_KEY", SECRET)
    }

    /// The configuration.
    pub fn config(&self) -> Result<Config> {
        let text = format!(
            "[runtime]\nworkspace = \"workspace\"\n{}\n[runtime.docker]\nsocket = {:?}\n\
             image = {:?}\n{}\n",
            self.runtime,
            self.socket.display().to_string(),
            self.image,
            self.docker
        );
        let file = self.folder.path().join("config.toml");
        Config::from_toml(&text, &file, &self.environment())
            .map(|loaded| loaded.config)
            .map_err(|faults| anyhow!("{faults}\nin\n{text}"))
    }

    /// The adapter.
    pub async fn adapter(&self) -> Result<DockerAdapter> {
        Ok(DockerAdapter::connect(&self.config()?, &self.environment()).await?)
    }

    /// Runs a line for the shell to its end.
    pub async fn shell(&self, line: &str) -> Result<ExecutionOutput> {
        let adapter = self.adapter().await?;
        let none = HashMap::new();
        let execution = Execution::new(Program::Shell(line), &none, LONG);
        Ok(adapter.run(execution).await?)
    }

    /// The containers that have this workspace, whatever their state.
    pub async fn containers(&self) -> Result<Vec<ContainerSummary>> {
        let mut all = list(&self.socket).await?;
        let workspace = self.workspace().canonicalize()?.display().to_string();
        all.retain(|container| {
            let mut mounts = container.mounts.iter().flatten();
            mounts.any(|mount| mount.source.as_ref() == Some(&workspace))
        });
        Ok(all)
    }

    /// Waits until the engine has no container with this workspace.
    pub async fn emptied(&self) -> Result<()> {
        self.until(Vec::is_empty).await
    }

    /// Waits until the containers with this workspace are as wanted.
    pub async fn until(&self, wanted: impl Fn(&Vec<ContainerSummary>) -> bool) -> Result<()> {
        let looked = async {
            while !wanted(&self.containers().await?) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        };
        tokio::time::timeout(LONG, looked)
            .await
            .context("the containers are not as wanted")?
    }
}

/// All containers of an engine.
pub async fn list(socket: &Path) -> Result<Vec<ContainerSummary>> {
    let client = client(socket)?;
    let options = ListContainersOptionsBuilder::new().all(true).build();
    let began = Instant::now();
    loop {
        match client.list_containers(Some(options.clone())).await {
            // Podman calls one `stopped` for a moment, which is not Docker's word. It also
            // lists what is being removed, or made, and then does not find all of it.
            Err(error) if is_passing(&error) && began.elapsed() < LONG => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            listed => return Ok(listed?),
        }
    }
}

fn is_passing(error: &bollard::errors::Error) -> bool {
    let said = error.to_string();
    said.contains("unknown variant `stopped`")
        || ["container not known", "no such container", "does not exist"]
            .iter()
            .any(|words| said.contains(words))
}

/// What a call printed, which is all UTF-8 and all there is.
pub fn printed(output: &ExecutionOutput) -> Result<&str> {
    ensure!(output.is_success(), "{output:?}");
    ensure!(output.stdout.dropped == 0, "{output:?}");
    Ok(std::str::from_utf8(&output.stdout.bytes)?)
}

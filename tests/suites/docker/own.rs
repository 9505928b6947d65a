//! An engine of a test's own, with which it may do what it likes.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bollard::query_parameters::ImportImageOptionsBuilder;
use futures::StreamExt as _;
use prx_tests::containers::{self, Kind, Yard};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

/// An engine of the test's own. Podman's is another server for the containers of the one that
/// is given: what ends with a server is no more than that.
pub struct Engine {
    folder: TempDir,
    daemon: Option<Child>,
    is_podman: bool,
    /// A folder of this machine that Podman does not see.
    hidden: Option<&'static str>,
}

impl Engine {
    /// `None`: a rootless Docker, which comes with the network and the users of a program that
    /// starts it.
    pub async fn start() -> Result<Option<Self>> {
        Self::start_without(None).await
    }

    /// Without a folder of this machine, if it is Podman, as root.
    pub async fn start_without(hidden: Option<&'static str>) -> Result<Option<Self>> {
        let kind = Kind::given()?;
        if kind == Kind::RootlessDocker {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("prx-own-").tempdir()?;
        let mut engine = Self {
            folder,
            daemon: None,
            is_podman: kind.is_podman(),
            hidden,
        };
        engine.start_daemon().await?;
        Ok(Some(engine))
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("docker.sock")
    }

    async fn answers(&self) -> bool {
        // There is no client for a socket that is not there yet.
        match containers::client(&self.socket()) {
            Ok(client) => client.ping().await.is_ok(),
            Err(_) => false,
        }
    }

    pub async fn start_daemon(&mut self) -> Result<()> {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        std::fs::write(at("config.json"), "{}")?;
        let log = std::fs::File::create(at("log"))?;
        let mut command = if self.is_podman {
            let mut podman = match self.hidden {
                None => Command::new("podman"),
                Some(folder) => {
                    let mut podman = Command::new("unshare");
                    let line = "mount -t tmpfs none \"$0\" && exec podman \"$@\"";
                    podman.args(["--mount", "sh", "-c", line, folder]);
                    podman
                }
            };
            podman
                .args(["system", "service", "--time=0"])
                .arg(format!("unix://{}", at("docker.sock")));
            podman
        } else {
            // With a network of its own: without it, an engine that wants no bridge removes
            // the one of any other engine here.
            let mut docker = Command::new("unshare");
            docker
                .args(["--net", "dockerd"])
                .arg(format!("--host=unix://{}", at("docker.sock")))
                .arg(format!("--data-root={}", at("data")))
                .arg(format!("--exec-root={}", at("run")))
                .arg(format!("--pidfile={}", at("pid")))
                .arg(format!("--config-file={}", at("config.json")))
                .args(["--bridge=none", "--iptables=false", "--ip-forward=false"]);
            docker
        };
        let mut daemon = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("could not start the engine: run `cargo xtask test`, which installs it")?;
        while !self.answers().await {
            if let Some(status) = daemon.try_wait()? {
                let log = std::fs::read_to_string(at("log"))?;
                bail!("the engine ended ({status}): {log}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.daemon = Some(daemon);
        Ok(())
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        let daemon = Pid::from_child(self.daemon.as_ref().context("it runs")?);
        if self.is_podman {
            // A rootless one is two processes.
            kill_process_group(daemon, signal)?;
        } else {
            kill_process(daemon, signal)?;
        }
        Ok(())
    }

    pub fn kill(&mut self) -> Result<()> {
        self.signal(Signal::KILL)?;
        if let Some(mut daemon) = self.daemon.take() {
            daemon.wait()?;
        }
        // Dead as well, and not collected by everybody's parent everywhere: the next daemon
        // would wait for it.
        self.kill_orphan();
        Ok(())
    }

    /// What it left mounted would keep its folder from being removed.
    fn unmount(&self) {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let places = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        let ours: Vec<_> = places
            .filter(|place| Path::new(place).starts_with(self.folder.path()))
            .collect();
        for place in ours.iter().rev() {
            let _ = Command::new("umount").args(["-l", place]).status();
        }
    }

    fn kill_orphan(&self) {
        let file = self.folder.path().join("run/containerd/containerd.pid");
        let pid = std::fs::read_to_string(&file).ok();
        if let Some(pid) = pid.and_then(|pid| Pid::from_raw(pid.trim().parse().ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = std::fs::remove_file(&file);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Ended in order it takes its own children along.
        if self.signal(Signal::TERM).is_ok()
            && let Some(mut daemon) = self.daemon.take()
        {
            let _ = daemon.wait();
        }
        self.kill_orphan();
        self.unmount();
    }
}

/// A yard on that engine, with the image copied into it.
pub async fn yard_on(engine: &Engine) -> Result<Yard> {
    let mut yard = Yard::new()?;
    if engine.is_podman {
        yard.socket = engine.socket();
        return Ok(yard);
    }
    let mut packed = Vec::new();
    let given = containers::client(&yard.socket)?;
    let mut pieces = given.export_image(&yard.image);
    while let Some(piece) = pieces.next().await {
        packed.extend_from_slice(&piece?);
    }
    drop(pieces);
    yard.socket = engine.socket();
    let own = containers::client(&yard.socket)?;
    let options = ImportImageOptionsBuilder::new().build();
    let packed = bollard::body_full(packed.into());
    let mut answers = own.import_image(options, packed, None);
    while let Some(answer) = answers.next().await {
        answer?;
    }
    Ok(yard)
}

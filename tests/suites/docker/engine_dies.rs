//! An engine that dies during a call: a typed error, no hang, and nothing left once it is
//! back.

use std::collections::HashMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use bollard::query_parameters::ImportImageOptionsBuilder;
use futures::StreamExt as _;
use prx_host::model::Event;
use prx_host::{Ending, Execution, Program, RuntimeAdapter as _, RuntimeError};
use prx_tests::containers::{self, Kind, LONG, Yard};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;
use tokio::sync::Notify;

/// An engine of the test's own. Podman's is another server for the containers of the one that
/// is given: what ends with a server is no more than that.
struct Engine {
    folder: TempDir,
    daemon: Option<Child>,
    is_podman: bool,
}

impl Engine {
    /// `None`: a rootless Docker, which comes with the network and the users of a program that
    /// starts it.
    async fn start() -> Result<Option<Self>> {
        let kind = Kind::given()?;
        if kind == Kind::RootlessDocker {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("prx-own-").tempdir()?;
        let mut engine = Self {
            folder,
            daemon: None,
            is_podman: kind.is_podman(),
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

    async fn start_daemon(&mut self) -> Result<()> {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        std::fs::write(at("config.json"), "{}")?;
        let log = std::fs::File::create(at("log"))?;
        let mut command = if self.is_podman {
            let mut podman = Command::new("podman");
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

    fn signal(&self, signal: Signal) -> Result<()> {
        let daemon = Pid::from_child(self.daemon.as_ref().context("it runs")?);
        if self.is_podman {
            // A rootless one is two processes.
            kill_process_group(daemon, signal)?;
        } else {
            kill_process(daemon, signal)?;
        }
        Ok(())
    }

    fn kill(&mut self) -> Result<()> {
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
async fn yard_on(engine: &Engine) -> Result<Yard> {
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

#[tokio::test]
async fn an_engine_killed_during_a_call_is_an_error_and_leaves_nothing_once_it_is_back()
-> Result<()> {
    let Some(mut engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    let begun = Arc::new(Notify::new());
    let notified = begun.clone();
    let none = HashMap::new();
    let mut execution = Execution::new(Program::Shell("echo begun; sleep 1000"), &none, LONG);
    execution.events = Some(Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notified.notify_one();
        }
    }));
    let killing = async {
        begun.notified().await;
        engine.kill()
    };
    let call = tokio::time::timeout(LONG / 2, adapter.run(execution));
    let (output, killed) = tokio::join!(call, killing);
    killed?;
    let error = output.context("it hangs")?.expect_err("the engine is dead");
    ensure!(
        matches!(error, RuntimeError::Interrupted { .. }),
        "{error:?}"
    );
    assert!(!adapter.is_available().await);

    let next = adapter.execute("true", &[], &none, None, LONG).await;
    let error = next.expect_err("the engine is dead");
    ensure!(
        matches!(error, RuntimeError::Unavailable { .. }),
        "{error:?}"
    );

    engine.start_daemon().await?;
    yard.emptied().await?;
    let again = adapter.execute("true", &[], &none, None, LONG).await?;
    assert!(again.is_success(), "the same adapter goes on: {again:?}");
    Ok(())
}

#[tokio::test]
async fn an_engine_that_stops_answering_does_not_stop_the_deadline() -> Result<()> {
    let Some(engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    let none = HashMap::new();
    let begun = Arc::new(Notify::new());
    let notified = begun.clone();
    let line = "echo begun; sleep 1000";
    let mut execution = Execution::new(Program::Shell(line), &none, Duration::from_secs(5));
    execution.events = Some(Arc::new(move |event| {
        if matches!(event, Event::Stdout(_)) {
            notified.notify_one();
        }
    }));
    let freezing = async {
        begun.notified().await;
        engine.signal(Signal::STOP)
    };
    let call = tokio::time::timeout(LONG, adapter.run(execution));
    let (output, frozen) = tokio::join!(call, freezing);
    frozen?;
    let output = output.context("it hangs")??;
    assert_eq!(output.ending, Ending::TimedOut);
    assert_eq!(output.stdout.bytes, b"begun\n");
    engine.signal(Signal::CONT)?;
    yard.emptied().await
}

#[tokio::test]
async fn an_engine_that_does_not_even_tell_of_the_image_does_not_stop_the_deadline() -> Result<()> {
    let Some(engine) = Engine::start().await? else {
        return Ok(());
    };
    let yard = yard_on(&engine).await?;
    let adapter = yard.adapter().await?;
    engine.signal(Signal::STOP)?;
    let none = HashMap::new();
    let execution = Execution::new(Program::Shell("true"), &none, Duration::from_secs(1));
    let output = tokio::time::timeout(LONG, adapter.run(execution)).await;
    engine.signal(Signal::CONT)?;
    assert_eq!(output.context("it hangs")??.ending, Ending::TimedOut);
    yard.emptied().await
}

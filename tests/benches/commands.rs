//! Commands through the adapters, each against the bare way to run the same in turns: a
//! process against `tokio::process`, one in a sandbox against `bwrap` itself, one in a
//! container against the engine's own client.

#![allow(
    clippy::cast_precision_loss,
    reason = "counts and sizes, shown as figures"
)]

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use prx_host::config::{Config, Environment};
use prx_host::{DockerAdapter, ExecutionOutput, NativeAdapter, RuntimeAdapter};
use serde_json::json;
use tokio::process::Command;
use tokio::task::JoinSet;

/// Runs of each, and before measuring.
const PROCESSES: usize = 600;
const SANDBOXES: usize = 200;
const CONTAINERS: usize = 30;
const WARM_UP: usize = 10;
/// Commands at once, and how often that many.
const AT_ONCE: usize = 100;
const BATCHES: usize = 9;
/// Between two sandboxes: the kernel takes namespaces down after their last process, which
/// must not be counted as part of what comes next.
const REST: Duration = Duration::from_millis(10);
/// The same for the removal of containers.
const LONG_REST: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_mins(1);

const PROGRAM: &str = "/bin/echo";
const SAID: &str = "measured";

#[tokio::main]
async fn main() -> Result<()> {
    processes().await?;
    sandboxes().await?;
    containers().await
}

/// A folder to work in, and the configuration that names it.
struct Place {
    folder: tempfile::TempDir,
    /// Beside the folder: what a host keeps for containers, none of them may be able to change.
    #[allow(dead_code, reason = "held for its end")]
    home: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("prx-bench-").tempdir()?;
        let home = tempfile::Builder::new().prefix("prx-home-").tempdir()?;
        let environment = Environment::new(folder.path())
            .with("HOME", home.path())
            .with("PATH", std::env::var_os("PATH").unwrap_or_default());
        Ok(Self {
            folder,
            home,
            environment,
        })
    }

    fn config(&self, text: &str) -> Result<Config> {
        let workspace = self.folder.path().display().to_string();
        let text = format!("[runtime]\nworkspace = {workspace:?}\n{text}");
        let file = self.folder.path().join("config.toml");
        Ok(Config::from_toml(&text, &file, &self.environment)?.config)
    }

    async fn native(&self, sandbox: &str) -> Result<Arc<NativeAdapter>> {
        let config = self.config(&format!("[security.sandbox]\nbackend = {sandbox:?}\n"))?;
        let adapter = NativeAdapter::new(&config, &self.environment).await?;
        Ok(Arc::new(adapter))
    }
}

async fn processes() -> Result<()> {
    let place = Place::new()?;
    let folder = place.folder.path();
    let adapter = place.native("none").await?;
    let (ours, base) = in_turns(
        PROCESSES,
        Duration::ZERO,
        async || execute(&*adapter).await,
        async || bare(PROGRAM, &[SAID.to_owned()], folder).await,
    )
    .await?;
    row(
        "native command, no sandbox",
        "us",
        ours * 1e6,
        base * 1e6,
        Some("ratio <= 1.15"),
    );
    let (mut ours, mut bares) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        let adapter = Arc::clone(&adapter);
        ours.push(
            batch(move || {
                let adapter = Arc::clone(&adapter);
                async move { execute(&*adapter).await }
            })
            .await?,
        );
        let folder = folder.to_owned();
        bares.push(
            batch(move || {
                let folder = folder.clone();
                async move { bare(PROGRAM, &[SAID.to_owned()], &folder).await }
            })
            .await?,
        );
    }
    let rate = |times| AT_ONCE as f64 / median(times);
    row(
        "native commands per second, 100 at once",
        "1/s",
        rate(ours),
        rate(bares),
        None,
    );
    Ok(())
}

async fn sandboxes() -> Result<()> {
    let place = Place::new()?;
    let folder = place.folder.path();
    let adapter = place.native("bubblewrap").await?;
    let mut arguments = flags_of_sandbox(&adapter).await?;
    arguments.extend([PROGRAM.to_owned(), SAID.to_owned()]);
    let (ours, base) = in_turns(SANDBOXES, REST, async || execute(&*adapter).await, {
        async || bare("bwrap", &arguments, folder).await
    })
    .await?;
    row(
        "native command, bubblewrap",
        "us",
        ours * 1e6,
        base * 1e6,
        Some("ratio <= 1.15"),
    );
    Ok(())
}

/// What the adapter calls `bwrap` with, up to the program that it runs. Its process is the
/// only child of this one while a command runs in it.
async fn flags_of_sandbox(adapter: &NativeAdapter) -> Result<Vec<String>> {
    let (arguments, env) = (["5".to_owned()], HashMap::new());
    let call = adapter.execute("/bin/sleep", &arguments, &env, None, LONG);
    let look = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let mine = std::process::id();
            let children = format!("/proc/{mine}/task");
            for task in std::fs::read_dir(children)? {
                let children = std::fs::read_to_string(task?.path().join("children"))?;
                for child in children.split_whitespace() {
                    let line = std::fs::read(format!("/proc/{child}/cmdline"));
                    let line = String::from_utf8(line.unwrap_or_default())?;
                    let words: Vec<_> = line.split('\0').map(str::to_owned).collect();
                    if words[0].ends_with("/bwrap") {
                        return anyhow::Ok(words);
                    }
                }
            }
        }
    };
    let words = tokio::select! {
        words = look => words?,
        output = call => anyhow::bail!("no `bwrap` was seen, and it ended: {output:?}"),
    };
    let end = words.iter().position(|word| word == "--");
    let end = end.with_context(|| format!("no end of the flags in {words:?}"))?;
    Ok(words[1..=end].to_vec())
}

async fn containers() -> Result<()> {
    let given = |name| std::env::var(name).with_context(|| format!("there is no `{name}`"));
    let socket = given("PRX_TEST_DOCKER_SOCKET")?;
    let image = given("PRX_TEST_IMAGE")?;
    if Command::new("docker")
        .arg("--version")
        .output()
        .await
        .is_err()
    {
        eprintln!("warning: there is no `docker`, the engine's client, to compare with");
        return Ok(());
    }
    let place = Place::new()?;
    let folder = place.folder.path();
    let config = place.config(&format!(
        "[runtime.docker]\nsocket = {socket:?}\nimage = {image:?}\n"
    ))?;
    let adapter = DockerAdapter::connect(&config, &place.environment).await?;
    adapter.ensure_image().await?;
    let flags = flags_of_container(&config, &socket, &image, folder)?;
    let (ours, base) = in_turns(CONTAINERS, LONG_REST, async || execute(&adapter).await, {
        async || bare("docker", &flags, folder).await
    })
    .await?;
    row(
        "command in a container",
        "ms",
        ours * 1e3,
        base * 1e3,
        Some("ratio <= 0.9"),
    );
    Ok(())
}

/// The flags with which `docker run` makes the container that the adapter makes.
fn flags_of_container(
    config: &Config,
    socket: &str,
    image: &str,
    folder: &Path,
) -> Result<Vec<String>> {
    let docker = &config.runtime.docker;
    let memory = docker.memory_limit.value;
    let owner = std::os::unix::fs::MetadataExt::uid(&folder.metadata()?);
    let cpus = docker.cpu_limit_millis.value as f64 / 1e3;
    let flags = [
        format!("--host=unix://{socket}"),
        "run".to_owned(),
        "--rm".to_owned(),
        format!("--memory={memory}"),
        format!("--memory-swap={memory}"),
        format!("--cpus={cpus}"),
        format!("--pids-limit={}", docker.pids_limit.value),
        "--network=none".to_owned(),
        format!(
            "--mount=type=bind,source={},target=/workspace",
            folder.display()
        ),
        "--workdir=/workspace".to_owned(),
        format!(
            "--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={}",
            memory / 2
        ),
        "--read-only".to_owned(),
        "--cap-drop=ALL".to_owned(),
        "--security-opt=no-new-privileges".to_owned(),
        "--init".to_owned(),
        "--log-driver=none".to_owned(),
        "--no-healthcheck".to_owned(),
        format!("--user={owner}:{owner}"),
        "--env=HOME=/tmp".to_owned(),
        format!("--entrypoint={PROGRAM}"),
        image.to_owned(),
        SAID.to_owned(),
    ];
    Ok(flags.into())
}

/// The middle of the times of both, in seconds.
async fn in_turns(
    runs: usize,
    rest: Duration,
    ours: impl AsyncFn() -> Result<()>,
    bare: impl AsyncFn() -> Result<()>,
) -> Result<(f64, f64)> {
    let (mut mine, mut others) = (Vec::new(), Vec::new());
    for run in 0..WARM_UP.min(runs) + runs {
        let a = time(rest, &ours).await?;
        let b = time(rest, &bare).await?;
        if run >= WARM_UP.min(runs) {
            mine.push(a);
            others.push(b);
        }
    }
    Ok((median(mine), median(others)))
}

async fn time(rest: Duration, run: &impl AsyncFn() -> Result<()>) -> Result<Duration> {
    tokio::time::sleep(rest).await;
    let started = Instant::now();
    run().await?;
    Ok(started.elapsed())
}

/// How long so many at once take.
async fn batch<F>(run: impl Fn() -> F) -> Result<Duration>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let started = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..AT_ONCE {
        all.spawn(run());
    }
    for one in all.join_all().await {
        one?;
    }
    Ok(started.elapsed())
}

async fn execute(adapter: &dyn RuntimeAdapter) -> Result<()> {
    let (arguments, env) = ([SAID.to_owned()], HashMap::new());
    let running = adapter.execute(PROGRAM, &arguments, &env, None, LONG);
    let output: ExecutionOutput = running.await?;
    let is_right = output.is_success() && output.stdout.bytes == format!("{SAID}\n").as_bytes();
    ensure!(is_right, "{output:?}");
    Ok(())
}

async fn bare(program: &str, arguments: &[String], folder: &Path) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .await?;
    let is_right = output.status.success() && output.stdout == format!("{SAID}\n").as_bytes();
    ensure!(is_right, "{output:?}");
    Ok(())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

fn row(name: &str, unit: &str, ours: f64, baseline: f64, goal: Option<&str>) {
    println!(
        "{}",
        json!({"name": name, "unit": unit, "ours": ours, "baseline": baseline, "goal": goal})
    );
}

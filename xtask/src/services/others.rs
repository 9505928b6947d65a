//! The engines beside the usual one, each in quarters of its own: Podman, and rootless ones,
//! with the same image, and the same registry at another address.

use std::path::PathBuf;

use anyhow::Result;
use tempfile::TempDir;

use super::engine::Socket;
use super::quarters::{ADDRESS, Quarters, Who};
use super::started::Started;
use super::{IMAGE, Services, image, packages, registry};

/// Programs of all of them, and their packages.
const NEEDED: [(&str, &str); 7] = [
    ("catatonit", "catatonit"),
    ("iptables", "iptables"),
    ("newuidmap", "uidmap"),
    ("nsenter", "util-linux"),
    ("podman", "podman"),
    ("rootlesskit", "rootlesskit"),
    ("slirp4netns", "slirp4netns"),
];

/// As Debian's package of Docker has it.
const ROOTLESS_DOCKER: &str = "/usr/share/docker.io/contrib/dockerd-rootless.sh";

/// Which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    RootlessDocker,
    Podman,
    RootlessPodman,
}

impl Other {
    /// As tests know it.
    fn name(self) -> &'static str {
        match self {
            Self::RootlessDocker => "rootless-docker",
            Self::Podman => "podman",
            Self::RootlessPodman => "rootless-podman",
        }
    }
}

/// A running one. Dropping it ends it and all that it runs.
pub struct OtherEngine {
    /// Runs a test where the engine is.
    pub runner: PathBuf,
    // In this order they end; their folder goes last.
    #[allow(dead_code, reason = "held for its end")]
    engine: Started,
    #[allow(dead_code, reason = "held for its end")]
    registry: Started,
    #[allow(dead_code, reason = "held for its end")]
    quarters: Quarters,
    #[allow(dead_code, reason = "held for its end")]
    folder: TempDir,
}

impl OtherEngine {
    /// Installs what is missing, and starts one.
    pub fn start(other: Other, services: &Services) -> Result<Self> {
        packages::ensure(&NEEDED)?;
        let folder = super::folder_for_all()?;
        let who = match other {
            Other::Podman => Who::Root,
            Other::RootlessDocker | Other::RootlessPodman => Who::Ordinary,
        };
        let quarters = Quarters::new(folder.path(), who)?;
        let address = format!("{ADDRESS}:5000");
        let registry = another_registry(&quarters, &address, services)?;
        let socket = Socket(quarters.at("run/engine.sock"));
        let mut variables = vec![
            ("PRX_TEST_ENGINE", other.name().to_owned()),
            ("PRX_TEST_DOCKER_SOCKET", socket.0.display().to_string()),
            ("PRX_TEST_IMAGE", IMAGE.to_owned()),
            ("PRX_TEST_REGISTRY", address.clone()),
            (
                "PRX_TEST_STAGES",
                quarters.at("stages").display().to_string(),
            ),
        ];
        let mut engine = match other {
            Other::RootlessDocker => rootless_docker(&quarters, &socket, &address)?,
            Other::Podman | Other::RootlessPodman => {
                variables.extend(podman_files(&quarters, &address)?);
                podman(&quarters, who, &socket, &variables)?
            }
        };
        engine.until(|| socket.get("/_ping").is_ok())?;
        image::load(&socket, &services.packed, IMAGE)?;
        Ok(Self {
            runner: quarters.runner(&variables)?,
            engine,
            registry,
            quarters,
            folder,
        })
    }
}

/// Another server for what the registry of the run has.
fn another_registry(quarters: &Quarters, address: &str, services: &Services) -> Result<Started> {
    let configuration = quarters.at("registry.yml");
    registry::configure(&configuration, address, services.registry.data())?;
    let command = [
        "docker-registry".to_owned(),
        "serve".to_owned(),
        configuration.display().to_string(),
    ];
    let mut server = quarters.start(Who::Root, "registry.log", &[], &command)?;
    let asked = format!("http://{address}/v2/");
    let busybox = packages::of_services()?.display().to_string();
    server.until(|| quarters.succeeds(&[&busybox, "wget", "-q", "-O", "/dev/null", &asked]))?;
    Ok(server)
}

fn rootless_docker(quarters: &Quarters, socket: &Socket, registry: &str) -> Result<Started> {
    // A sandbox in a sandbox is not possible everywhere.
    let variables = [
        "DOCKERD_ROOTLESS_ROOTLESSKIT_SLIRP4NETNS_SANDBOX",
        "DOCKERD_ROOTLESS_ROOTLESSKIT_SLIRP4NETNS_SECCOMP",
    ];
    let variables = variables.map(|name| (name, "false".to_owned()));
    let program = packages::find("dockerd-rootless.sh").unwrap_or(ROOTLESS_DOCKER.into());
    let command = [
        program.display().to_string(),
        format!("--host=unix://{}", socket.0.display()),
        format!("--insecure-registry={registry}"),
        "--iptables=false".to_owned(),
    ];
    quarters.start(Who::Ordinary, "engine.log", &variables, &command)
}

/// Files that keep everything of it in its folder, and the variables that name them.
fn podman_files(quarters: &Quarters, registry: &str) -> Result<Vec<(&'static str, String)>> {
    let at = |name: &str| quarters.at(name).display().to_string();
    // Limits of processes can not be raised everywhere, and it would.
    let containers = format!(
        "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n\
         runtime = \"runc\"\ntmp_dir = {:?}\n\
         [containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n",
        at("run/tmp"),
    );
    let storage = format!(
        "[storage]\ndriver = \"overlay\"\ngraphroot = {:?}\nrunroot = {:?}\n",
        at("run/storage"),
        at("run/containers"),
    );
    let registries = format!("[[registry]]\nlocation = {registry:?}\ninsecure = true\n");
    let files = [
        ("CONTAINERS_CONF", "containers.conf", containers),
        ("CONTAINERS_STORAGE_CONF", "storage.conf", storage),
        ("CONTAINERS_REGISTRIES_CONF", "registries.conf", registries),
    ];
    files
        .into_iter()
        .map(|(variable, name, text)| {
            std::fs::write(quarters.at(name), text)?;
            Ok((variable, at(name)))
        })
        .collect()
}

fn podman(
    quarters: &Quarters,
    who: Who,
    socket: &Socket,
    variables: &[(&str, String)],
) -> Result<Started> {
    let command = [
        "podman".to_owned(),
        "system".to_owned(),
        "service".to_owned(),
        "--time=0".to_owned(),
        format!("unix://{}", socket.0.display()),
    ];
    quarters.start(who, "engine.log", variables, &command)
}

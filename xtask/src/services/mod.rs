//! What tests need of the machine besides files: a sandbox, an engine for containers, an
//! image in it, and a registry. Started for one run and ended with it; an engine that is
//! here already is not touched.
//!
//! Invariant: a service that can not be had is a failure, never a reason to leave tests out.

mod engine;
mod image;
mod others;
pub mod packages;
mod quarters;
mod registry;
mod started;

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::steps::Steps;
use engine::Engine;
pub use others::{Other, OtherEngine};
use registry::Registry;

/// The image that tests run.
const IMAGE: &str = "prx-test/busybox:latest";

/// Everything that was started. Dropping it ends it.
pub struct Services {
    // In this order they end; their folder goes last.
    registry: Registry,
    engine: Engine,
    /// The image, as an archive of its files.
    packed: Vec<u8>,
    /// Where everything of theirs is.
    #[allow(dead_code, reason = "held for its end")]
    folder: TempDir,
}

impl Services {
    /// Installs what is missing and starts everything.
    pub fn start(steps: &mut Steps) -> Option<Self> {
        let busybox = steps.give("Programs that tests need", || {
            let busybox = packages::of_services()?;
            Ok((String::new(), busybox))
        })?;
        steps.give("Services that tests need", || {
            let services = start(&busybox)?;
            let remark = format!(
                "an engine at `{}`, a registry at `{}`",
                services.engine.socket().0.display(),
                services.registry.address()
            );
            Ok((remark, services))
        })
    }

    /// The variables through which tests find the services.
    pub fn variables(&self) -> [(&'static str, OsString); 4] {
        [
            ("PRX_TEST_ENGINE", "docker".into()),
            (
                "PRX_TEST_DOCKER_SOCKET",
                self.engine.socket().0.clone().into(),
            ),
            ("PRX_TEST_IMAGE", IMAGE.into()),
            ("PRX_TEST_REGISTRY", self.registry.address().into()),
        ]
    }
}

fn start(busybox: &Path) -> Result<Services> {
    if !is_root()? {
        bail!(
            "these tests start an engine for containers, which takes root: run \
             `sudo -E cargo xtask test`, or name parts that need none: `cargo xtask test unit`"
        );
    }
    let folder = folder_for_all()?;
    let registry = Registry::start(&sub_folder(&folder, "registry")?)?;
    let engine = Engine::start(&sub_folder(&folder, "engine")?)?;
    let packed = image::pack(busybox, &sub_folder(&folder, "image")?)?;
    image::load(engine.socket(), &packed, IMAGE)?;
    image::push(engine.socket(), IMAGE, registry.address())?;
    Ok(Services {
        registry,
        engine,
        packed,
        folder,
    })
}

/// A folder through which everybody may pass.
fn folder_for_all() -> Result<TempDir> {
    // Sockets have short names only.
    tempfile::Builder::new()
        .prefix("prx-")
        .permissions(Permissions::from_mode(0o711))
        .tempdir()
        .context("could not make a folder for services")
}

fn sub_folder(folder: &TempDir, name: &str) -> Result<PathBuf> {
    let path = folder.path().join(name);
    std::fs::create_dir(&path).with_context(|| format!("could not make `{}`", path.display()))?;
    Ok(path)
}

fn is_root() -> Result<bool> {
    let id = crate::command::output(std::process::Command::new("id").arg("-u"))?;
    Ok(id.trim() == "0")
}

//! The names of a container without a network: `localhost`, and nothing else.
//!
//! An engine that makes no network at all starts a container in half the time in which it
//! makes the network `none`, and a program sees the same: a loopback of its own. Only the
//! file with its name is missing then, so containers are given this one.
//!
//! Invariant: where it can not be had, or the engine can not use it, containers have the
//! engine's network `none`.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::engine::Engine;
use crate::config::{DockerNetwork, Environment};

/// Where it appears.
pub(super) const TARGET: &str = "/etc/hosts";

const TEXT: &str = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n";

/// Where the file is, in the folder for caches of this user.
pub(super) fn path(environment: &Environment) -> Option<PathBuf> {
    let cache = environment.xdg("XDG_CACHE_HOME")?;
    Some(cache.join("openprx/docker/hosts"))
}

/// The file, if containers are given it.
#[derive(Default)]
pub(super) struct Hosts {
    file: Option<String>,
    is_refused: AtomicBool,
}

impl Hosts {
    /// Writes the file where containers of this engine need it.
    pub fn prepare(path: Option<&Path>, network: DockerNetwork, engine: &Engine) -> Self {
        let wanted = path.filter(|_| network == DockerNetwork::None && engine.can_go_without);
        let file = wanted.and_then(|path| {
            let written = write(path).inspect_err(|error| {
                tracing::debug!(file = %path.display(), %error, "containers start slower");
            });
            path.to_str().filter(|_| written.is_ok()).map(str::to_owned)
        });
        Self {
            file,
            is_refused: AtomicBool::new(false),
        }
    }

    /// What containers are given now.
    pub fn file(&self) -> Option<&str> {
        let file = self.file.as_deref();
        file.filter(|_| !self.is_refused.load(Relaxed))
    }

    /// The engine can not use it, and is not asked to again.
    pub fn refuse(&self, reason: &str) {
        tracing::info!(
            reason,
            "the engine can not give containers a file of this host's, so they start slower"
        );
        self.is_refused.store(true, Relaxed);
    }
}

fn write(path: &Path) -> io::Result<()> {
    if fs::read(path).is_ok_and(|text| text == TEXT.as_bytes()) {
        return Ok(());
    }
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    // Under its name it is whole: containers of other hosts may be starting.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(TEXT.as_bytes())?;
    let everybody = fs::Permissions::from_mode(0o644);
    file.as_file().set_permissions(everybody)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Engine {
        Engine {
            can_go_without: true,
            ..Engine::default()
        }
    }

    #[test]
    fn it_is_written_where_it_is_needed_and_mended_where_it_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/hosts");
        let prepare = |network, engine: &Engine| Hosts::prepare(Some(&path), network, engine);
        assert_eq!(prepare(DockerNetwork::Bridge, &engine()).file(), None);
        assert_eq!(
            prepare(DockerNetwork::None, &Engine::default()).file(),
            None
        );
        assert!(!path.exists());
        for _ in 0..2 {
            let hosts = prepare(DockerNetwork::None, &engine());
            assert_eq!(hosts.file(), path.to_str());
            assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644);
            fs::write(&path, "10.0.0.1 localhost\n").unwrap();
        }
    }

    #[test]
    fn where_it_can_not_be_or_is_refused_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let in_the_way = folder.path().join("file");
        fs::write(&in_the_way, "").unwrap();
        let below = in_the_way.join("hosts");
        let hosts = Hosts::prepare(Some(&below), DockerNetwork::None, &engine());
        assert_eq!(hosts.file(), None);
        let path = folder.path().join("hosts");
        let hosts = Hosts::prepare(Some(&path), DockerNetwork::None, &engine());
        assert!(hosts.file().is_some());
        hosts.refuse("no such file");
        assert_eq!(hosts.file(), None);
    }
}

//! The names of a container without a network: `localhost`, and nothing else.
//!
//! An engine that makes no network at all starts a container in half the time in which it
//! makes the network `none`, and a program sees the same: a loopback of its own. Only the
//! file with its name is missing then, so containers are given this one.
//!
//! Invariants: where it can not be had, or the engine can not use it, containers have the
//! engine's network `none`. No container can change the file or a folder above it: what is
//! mounted for the next one would be what that made of it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::engine::{Engine, Kind};
use super::settings::Settings;
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
    /// Writes the file where containers of this engine need it. Podman knows no container
    /// that is without any network.
    pub fn prepare(settings: &Settings, engine: &Engine) -> Self {
        let is_wanted = settings.network == DockerNetwork::None && engine.kind == Kind::Docker;
        let path = settings.hosts.as_deref().filter(|_| is_wanted);
        let file = path.and_then(|path| {
            written(path, &settings.workspace.value)
                .inspect_err(|error| {
                    tracing::debug!(file = %path.display(), %error, "containers start slower");
                })
                .ok()
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

/// The file without links, as a text, once it is there.
fn written(path: &Path, workspace: &Path) -> io::Result<String> {
    let real_workspace = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
    let is_within = |path: &Path| path.starts_with(workspace) || path.starts_with(&real_workspace);
    if is_within(path) {
        return Err(io::Error::other("it would be in the workspace"));
    }
    write(path)?;
    let real = fs::canonicalize(path)?;
    if is_within(&real) {
        return Err(io::Error::other("it leads into the workspace"));
    }
    let real = real.into_os_string().into_string();
    real.map_err(|_| io::Error::other("its path is not UTF-8"))
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
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Config;

    /// Of a host whose caches are in a folder, with these lines in the configuration.
    fn settings(cache: &Path, workspace: &Path, lines: &str) -> Settings {
        let environment = Environment::new("/srv")
            .with("HOME", "/home/ada")
            .with("XDG_CACHE_HOME", cache);
        let text = format!("[runtime]\nworkspace = {workspace:?}\n[runtime.docker]\n{lines}\n");
        let config = Config::from_toml(&text, Path::new("/srv/config.toml"), &environment);
        Settings::of_runtime(&config.unwrap().config, &environment)
    }

    #[test]
    fn it_is_written_where_it_is_needed_and_mended_where_it_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let path = root.join("openprx/docker/hosts");
        let elsewhere = root.join("workspace");
        let bridged = settings(&root, &elsewhere, "network = \"bridge\"");
        let alone = settings(&root, &elsewhere, "");
        let podman = Engine {
            kind: Kind::Podman,
            ..Engine::default()
        };
        assert_eq!(Hosts::prepare(&bridged, &Engine::default()).file(), None);
        assert_eq!(Hosts::prepare(&alone, &podman).file(), None);
        assert!(!path.exists());
        for _ in 0..2 {
            let hosts = Hosts::prepare(&alone, &Engine::default());
            assert_eq!(hosts.file(), path.to_str());
            assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644);
            fs::write(&path, "10.0.0.1 localhost\n").unwrap();
        }
        let hosts = Hosts::prepare(&alone, &Engine::default());
        hosts.refuse("no such file");
        assert_eq!(hosts.file(), None);
    }

    #[test]
    fn no_container_can_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = root.join("workspace");
        fs::create_dir(&workspace).unwrap();
        let file_of = |cache: &Path, workspace: &Path| {
            let hosts = Hosts::prepare(&settings(cache, workspace, ""), &Engine::default());
            hosts.file().map(str::to_owned)
        };
        assert_eq!(file_of(&workspace.join("cache"), &workspace), None);
        assert!(!workspace.join("cache").exists());
        // A link in the workspace could be made to lead elsewhere, wherever it leads now.
        symlink(&root, workspace.join("link")).unwrap();
        assert_eq!(file_of(&workspace.join("link"), &workspace), None);
        // One that leads into the workspace does the same.
        symlink(&workspace, root.join("link")).unwrap();
        assert_eq!(file_of(&root.join("link"), &workspace), None);
        // The workspace by another name.
        assert_eq!(file_of(&workspace.join("cache"), &root.join("link")), None);
        assert!(file_of(&root.join("cache"), &workspace).is_some());
        // Where something is in the way there is none either.
        fs::write(root.join("file"), "").unwrap();
        assert_eq!(file_of(&root.join("file"), &workspace), None);
    }
}

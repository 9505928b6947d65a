//! What works on this machine under a configuration, and what does not and why. It runs no
//! tool; sandboxes are tried with a program that does nothing.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::config::{Config, Environment};
use crate::model::Shown as _;
use crate::presence::{Notice, running_hosts};
use crate::runtime::{self, Health, RuntimeError, Selection};

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// Where commands run whose tools name no backend.
    pub selected: String,
    /// Why.
    pub reason: String,
    /// Whether that backend can be used.
    pub usable: bool,
    /// Backends and sandboxes.
    pub backends: Vec<Health>,
    /// Folders, caches and limits of the system.
    pub system: Vec<Health>,
    /// The hosts of this configuration that are running, and what is wrong with them.
    pub hosts: Vec<Notice>,
}

/// Tries every backend and sandbox, and looks at folders and limits.
pub async fn examine(config: &Config, environment: &Environment) -> Examination {
    let shared = std::sync::Arc::new(config.clone());
    let selection: Selection = runtime::Backends::new(&shared, environment)
        .selection()
        .await
        .clone();
    let mut backends = runtime::native::health(config, environment).await;
    #[cfg(feature = "docker")]
    backends.push(runtime::docker::health(config, environment).await);
    #[cfg(not(feature = "docker"))]
    backends.push(not_built_in("docker", "docker"));
    #[cfg(feature = "wasm-runtime")]
    backends.push(runtime::wasm::health(config));
    #[cfg(not(feature = "wasm-runtime"))]
    backends.push(not_built_in("wasm", "wasm-runtime"));
    let name = selection.backend.as_str();
    Examination {
        selected: name.to_owned(),
        usable: backends
            .iter()
            .any(|health| health.name == name && health.usable),
        reason: selection.reason,
        backends,
        system: system(config),
        hosts: running_hosts(environment, config.file.as_deref()),
    }
}

#[cfg(not(all(feature = "docker", feature = "wasm-runtime")))]
fn not_built_in(name: &'static str, feature: &str) -> Health {
    let error = RuntimeError::Unavailable {
        backend: name.into(),
        reason: "this prx-host was built without it".into(),
        help: format!("build it with `--features {feature}`"),
    };
    Health::bad(name, &error)
}

fn system(config: &Config) -> Vec<Health> {
    let wasm = &config.runtime.wasm;
    vec![
        folder(
            "workspace",
            &config.runtime.workspace.value,
            &config.runtime.workspace.origin(),
        ),
        folder(
            "module folder",
            &wasm.module_path.value,
            &wasm.module_path.origin(),
        ),
        made_when_needed("compile cache", &wasm.cache_path.value),
        made_when_needed("state", &wasm.state_path.value),
        watches(),
        open_files(),
    ]
}

fn folder(name: &'static str, path: &Path, origin: &str) -> Health {
    match fs::read_dir(path) {
        Ok(entries) => Health::good(name, path.shown().to_string())
            .note(format!("{} entries", entries.count())),
        Err(error) => Health::bad(
            name,
            &RuntimeError::Unavailable {
                backend: name.into(),
                reason: format!("`{}` can not be read: {error}", path.shown()),
                help: format!("create it, or correct {origin}"),
            },
        ),
    }
}

/// A folder that the host itself makes.
fn made_when_needed(name: &'static str, path: &Path) -> Health {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Health::good(name, path.shown().to_string())
            .note(crate::model::format_bytes(bytes_in(path))),
        Ok(_) => Health::bad(
            name,
            &RuntimeError::Unavailable {
                backend: name.into(),
                reason: format!("`{}` is no folder", path.shown()),
                help: "move it away".into(),
            },
        ),
        Err(_) => Health::good(name, path.shown().to_string()).note("made when it is needed"),
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

/// Few watches let a watcher of folders fail where others use them up.
fn watches() -> Health {
    const ENOUGH: u64 = 1024;
    let limit = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    match (limit("max_user_watches"), limit("max_user_instances")) {
        (Some(watches), Some(instances)) if watches >= ENOUGH && instances >= 16 => Health::good(
            "inotify",
            format!("{watches} watches, {instances} instances"),
        ),
        (Some(watches), Some(instances)) => Health::bad(
            "inotify",
            &RuntimeError::Unavailable {
                backend: "inotify".into(),
                reason: format!("only {watches} watches and {instances} instances for each user"),
                help: "sysctl fs.inotify.max_user_watches=65536 fs.inotify.max_user_instances=128"
                    .into(),
            },
        ),
        _ => Health::good("inotify", "unknown on this system"),
    }
}

fn open_files() -> Health {
    const ENOUGH: u64 = 1024;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= ENOUGH {
        let shown = limit
            .current
            .map_or("unlimited".into(), |limit| limit.to_string());
        return Health::good("open files", shown);
    }
    Health::bad(
        "open files",
        &RuntimeError::Unavailable {
            backend: "open files".into(),
            reason: format!("a process may have only {current} open files"),
            help: format!("ulimit -n {ENOUGH}"),
        },
    )
}

//! `[runtime]` and its tables.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;

use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::{
    Backend, Docker, DockerNetwork, Native, Reload, ReloadMethod, Runtime, Setting, Wasm,
    WasmEngine,
};

use super::{MEGABYTES, MIB, capabilities, grants};

/// The words for the three backends.
pub(super) const BACKENDS: [(&str, Backend); 3] = [
    ("native", Backend::Native),
    ("docker", Backend::Docker),
    ("wasm", Backend::Wasm),
];

pub(super) const NETWORKS: [(&str, DockerNetwork); 3] = [
    ("none", DockerNetwork::None),
    ("bridge", DockerNetwork::Bridge),
    ("host", DockerNetwork::Host),
];

/// The words for ways to follow files.
const METHODS: [(&str, ReloadMethod); 3] = [
    ("auto", ReloadMethod::Auto),
    ("poll", ReloadMethod::Poll),
    ("off", ReloadMethod::Off),
];

/// What one stream of one call may hold; it is kept in memory.
pub(super) fn output_bytes(entry: &Entry<'_>) -> Option<u64> {
    entry.whole(&(1..=1 << 30), "bytes")
}

pub(super) fn read(table: &Table<'_>) -> Runtime {
    let current_dir = table.document.environment.current_dir();
    let workspace = table.setting("workspace", current_dir.to_owned(), Entry::path);
    Runtime {
        backend: table.setting("backend", None, |entry| {
            let [native, docker, wasm] = BACKENDS.map(|(word, backend)| (word, Some(backend)));
            entry.choice(&[native, docker, wasm, ("auto", None)])
        }),
        default_timeout: table.setting(
            "default_timeout_secs",
            Duration::from_mins(1),
            Entry::seconds,
        ),
        max_output_bytes: table.setting("max_output_bytes", 1 << 20, output_bytes),
        env_whitelist: table.setting(
            "env_whitelist",
            ["PATH", "HOME", "TERM", "LANG", "USER"]
                .map(str::to_owned)
                .into(),
            Entry::variable_names,
        ),
        reload: reload(&table.table("reload")),
        native: native(&table.table("native")),
        docker: docker(&table.table("docker")),
        wasm: wasm(&table.table("wasm"), &workspace),
        workspace,
    }
}

fn reload(table: &Table<'_>) -> Reload {
    Reload {
        method: table.setting("method", ReloadMethod::Auto, |entry| entry.choice(&METHODS)),
        settle: table.setting("settle_ms", Duration::from_millis(50), |entry| {
            let milliseconds = entry.whole(&(1..=10_000), "ms")?;
            Some(Duration::from_millis(milliseconds))
        }),
        poll: table.setting("poll_secs", Duration::from_secs(2), Entry::seconds),
    }
}

fn native(table: &Table<'_>) -> Native {
    Native {
        shell: table.setting("shell", PathBuf::from("/bin/bash"), |entry| {
            // A bare name is looked up in `PATH`, as everywhere.
            match entry.text()? {
                name if !name.is_empty() && !name.contains(['/', '~', '$', '\0']) => {
                    Some(PathBuf::from(name))
                }
                _ => entry.path(),
            }
        }),
        env: table.setting("env", IndexMap::new(), Entry::variables),
    }
}

fn docker(table: &Table<'_>) -> Docker {
    Docker {
        image: table.setting("image", "debian:bookworm-slim".to_owned(), image),
        socket: table.setting("socket", PathBuf::from("/var/run/docker.sock"), socket),
        memory_limit: table.setting("memory_limit", 256 * MIB, Entry::memory),
        cpu_limit_millis: table.setting("cpu_limit", 1000, Entry::processors),
        pids_limit: table.setting("pids_limit", 100, |entry| {
            entry.whole(&(1..=4_194_304), "processes")
        }),
        network: table.setting("network", DockerNetwork::None, |entry| {
            entry.choice(&NETWORKS)
        }),
        mount_workspace: table.setting("mount_workspace", true, Entry::boolean),
        workspace_mount_path: table.setting(
            "workspace_mount_path",
            grants::WORKSPACE.to_owned(),
            mount_path,
        ),
        auto_pull: table.setting("auto_pull", true, Entry::boolean),
        auto_remove: table.setting("auto_remove", true, Entry::boolean),
        tool_images: table.setting("tool_images", IndexMap::new(), |entry| {
            let images = entry.table()?;
            let images = images.entries();
            let images = images.filter_map(|entry| Some((entry.name.to_owned(), image(&entry)?)));
            Some(images.collect())
        }),
    }
}

/// The name of an image; whether it exists only the daemon knows.
pub(super) fn image(entry: &Entry<'_>) -> Option<String> {
    let image = entry.filled_text()?;
    if image.contains(char::is_whitespace) || image.starts_with('-') {
        entry.report(
            Fault::error(format!("`{}` is not the name of an image", entry.key))
                .because("a name has no spaces and does not begin with `-`")
                .help("write it as for `docker pull`, for instance `\"debian:bookworm-slim\"`"),
        );
        return None;
    }
    Some(image)
}

fn socket(entry: &Entry<'_>) -> Option<PathBuf> {
    let text = entry.text()?;
    match text.split_once("://") {
        None => entry.path(),
        Some(("unix", path)) if Path::new(path).is_absolute() => Some(PathBuf::from(path)),
        Some(_) => {
            entry.report(
                Fault::error(format!("`{}` is not the path of a socket", entry.key))
                    .because("only Unix sockets are supported")
                    .help("write the path, for instance `\"/var/run/docker.sock\"`"),
            );
            None
        }
    }
}

fn mount_path(entry: &Entry<'_>) -> Option<String> {
    let why = match grants::normalised(entry.text()?) {
        Ok("/") => "it would hide the container's own files",
        Ok(path) => return Some(path.to_owned()),
        Err(why) => why,
    };
    entry.report(
        Fault::error(format!(
            "`{}` is not a usable path in a container",
            entry.key
        ))
        .because(why)
        .help("write an absolute path, for instance `\"/workspace\"`"),
    );
    None
}

fn wasm(table: &Table<'_>, workspace: &Setting<PathBuf>) -> Wasm {
    let nested = table.table("capabilities");
    let xdg = |name, variable: &str, folders: &[&str]| {
        let base = table.document.environment.xdg(variable);
        let default = base.map(|base| folders.iter().fold(base, |path, folder| path.join(folder)));
        if default.is_none() && table.entry(name).is_none() {
            let key = table.full_key(name);
            table.document.report(
                Fault::error(format!("`{key}` has no default here"))
                    .about(&key)
                    .because("the home folder is not known: `HOME` is not set")
                    .help(format!(
                        "set `HOME`, or write `{name}` into `[{}]`",
                        table.key
                    )),
            );
        }
        table.setting(name, default.unwrap_or_default(), Entry::path)
    };
    Wasm {
        engine: table.setting("engine", WasmEngine::Wasmtime, engine),
        module_path: xdg("module_path", "XDG_DATA_HOME", &["openprx", "wasm"]),
        timeout: table.setting_in_either(&nested, "timeout_secs", None, |entry| {
            entry.seconds().map(Some)
        }),
        max_memory_bytes: table.setting_in_either(&nested, "max_memory_mb", 128 * MIB, |entry| {
            entry.bytes(&MEGABYTES, MIB, "MB")
        }),
        cache_path: xdg("cache_path", "XDG_CACHE_HOME", &["openprx", "wasm"]),
        cache_max_bytes: table.setting("cache_max_mb", 2048 * MIB, |entry| {
            entry.bytes(&MEGABYTES, MIB, "MB")
        }),
        state_path: xdg("state_path", "XDG_STATE_HOME", &["openprx", "skills"]),
        capabilities: capabilities::global(&nested, workspace),
    }
}

fn engine(entry: &Entry<'_>) -> Option<WasmEngine> {
    let engines = [
        ("wasmtime", WasmEngine::Wasmtime),
        ("wasmer", WasmEngine::Wasmer),
    ];
    let engine = entry.choice(&engines)?;
    if engine == WasmEngine::Wasmer {
        entry.report(
            Fault::warning("the engine `wasmer` is not part of this host")
                .because("tools of type `wasm` will be unavailable")
                .help("write `engine = \"wasmtime\"`"),
        );
    }
    Some(engine)
}

//! `[security.sandbox]` and `[security.resources]`. The rest of `[security]` belongs to
//! the agent.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::suggest;
use crate::config::{Resources, Sandbox, SandboxBackend, SandboxDocker, Setting};

use super::{MEGABYTES, MIB, runtime};

const OURS: [&str; 2] = ["sandbox", "resources"];

/// Warns of tables that are almost ours.
pub(super) fn check_neighbours(table: &Table<'_>) {
    for entry in table.entries() {
        if OURS.contains(&entry.name) {
            continue;
        }
        if let Some(ours) = suggest::misspelled(entry.name, &OURS) {
            let fault = Fault::warning(format!("`{}` is left to the agent", entry.key));
            let fault = fault.at(table.document.source, &entry.key_span);
            entry.report(fault.help(format!("did you mean `security.{ours}`?")));
        }
    }
}

pub(super) fn sandbox(table: &Table<'_>) -> Sandbox {
    let nested = table.table("bubblewrap");
    let docker = table.table("docker");
    let paths = |name, defaults: &[&str]| {
        let defaults = defaults.iter().map(PathBuf::from).collect();
        table.setting_in_either(&nested, name, defaults, |entry| {
            entry.list("strings", Entry::path)
        })
    };
    Sandbox {
        backend: backend(table),
        allow_network: table.setting_in_either(&nested, "allow_network", false, Entry::boolean),
        writable_paths: paths("writable_paths", &["/tmp"]),
        readonly_paths: paths(
            "readonly_paths",
            &["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc"],
        ),
        firejail_args: table.setting("firejail_args", Vec::new(), |entry| {
            entry.list("strings", Entry::filled_text)
        }),
        docker: SandboxDocker {
            image: docker.optional("image", runtime::image),
            network: docker.optional("network", |entry| entry.choice(&runtime::NETWORKS)),
            memory_limit: docker.optional("memory_limit", Entry::memory),
            cpu_limit_millis: docker.optional("cpu_limit", Entry::processors),
        },
    }
}

/// The sandbox's backend. The documents also know `enabled`: `false` is `"none"`.
fn backend(table: &Table<'_>) -> Setting<Option<SandboxBackend>> {
    let enabled = table.optional("enabled", Entry::boolean);
    let backend = table.setting("backend", None, |entry| {
        entry.choice(&[
            ("auto", None),
            ("landlock", Some(SandboxBackend::Landlock)),
            ("firejail", Some(SandboxBackend::Firejail)),
            ("bubblewrap", Some(SandboxBackend::Bubblewrap)),
            ("docker", Some(SandboxBackend::Docker)),
            ("none", Some(SandboxBackend::None)),
        ])
    });
    match enabled {
        Some(Setting {
            value: false,
            key,
            place,
        }) => Setting {
            value: Some(SandboxBackend::None),
            key,
            place,
        },
        Some(_) if backend.value == Some(SandboxBackend::None) => {
            if let Some(entry) = table.entry("enabled") {
                entry.report(
                    Fault::error("the sandbox is both enabled and switched off")
                        .because(format!(
                            "`enabled = true`, but {} is `\"none\"`",
                            backend.origin()
                        ))
                        .help("write `backend = \"auto\"`, or remove `enabled`"),
                );
            }
            backend
        }
        _ => backend,
    }
}

pub(super) fn resources(table: &Table<'_>) -> Resources {
    no_effect(
        table,
        "memory_monitoring",
        "`max_memory_mb` is always enforced",
    );
    no_effect(
        table,
        "max_cpu_percent",
        "a limit of a process has no share of a processor",
    );
    Resources {
        max_memory_bytes: table.setting("max_memory_mb", 512 * MIB, |entry| {
            entry.bytes(&MEGABYTES, MIB, "MB")
        }),
        max_cpu_time: table.setting(
            "max_cpu_time_seconds",
            Duration::from_mins(1),
            Entry::seconds,
        ),
        max_subprocesses: table.setting("max_subprocesses", 10, |entry| {
            entry.whole(&(0..=4_194_304), "processes")
        }),
        max_open_files: table.optional("max_open_files", |entry| {
            entry.whole(&(16..=1_048_576), "files")
        }),
    }
}

/// A key of the documents that this host has no use for.
fn no_effect(table: &Table<'_>, name: &'static str, why: &str) {
    let Some(entry) = table.entry(name) else {
        return;
    };
    let asks_for_nothing = match name {
        "memory_monitoring" => entry.boolean() != Some(false),
        _ => entry.whole(&(1..=100), "percent").is_none(),
    };
    if !asks_for_nothing {
        entry.report(Fault::warning(format!("`{}` has no effect", entry.key)).because(why));
    }
}

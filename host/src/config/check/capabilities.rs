//! `[runtime.wasm.capabilities]` and `[tools.custom.<name>.capabilities]`: what skills
//! may touch. A tool's key replaces the global one, so conflicts are looked for in what
//! would really be in force.

use std::path::PathBuf;

use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::{Capabilities, CapabilityOverrides, Setting};
use crate::model::{Access, FolderGrant, HostPattern};

use super::grants;

/// Reads the table of all skills.
pub(super) fn global(table: &Table<'_>, workspace: &Setting<PathBuf>) -> Capabilities {
    let written = overrides(table, workspace);
    let capabilities = Capabilities {
        filesystem_read: or(
            table,
            "filesystem_read",
            written.filesystem_read,
            Vec::new(),
        ),
        filesystem_write: or(
            table,
            "filesystem_write",
            written.filesystem_write,
            Vec::new(),
        ),
        network: or(table, "network", written.network, false),
        allowed_hosts: match written.allowed_hosts {
            Some(Setting { value, key, place }) => Setting {
                value: Some(value),
                key,
                place,
            },
            None => Setting::default_of(table.full_key("allowed_hosts"), None),
        },
        env_vars: or(table, "env_vars", written.env_vars, Vec::new()),
        max_state_bytes: or(table, "max_state_kb", written.max_state_bytes, 0),
    };
    check_hosts(table, &capabilities.network);
    let (read, write) = (
        &capabilities.filesystem_read,
        &capabilities.filesystem_write,
    );
    check_folders(table, &read.value, &write.value);
    capabilities
}

/// Reads the table of one tool.
pub(super) fn of_tool(
    table: &Table<'_>,
    workspace: &Setting<PathBuf>,
    global: &Capabilities,
) -> CapabilityOverrides {
    let overrides = overrides(table, workspace);
    let network = overrides.network.as_ref().unwrap_or(&global.network);
    check_hosts(table, network);
    let read = overrides.filesystem_read.as_ref();
    let write = overrides.filesystem_write.as_ref();
    if read.is_some() || write.is_some() {
        let read = read.unwrap_or(&global.filesystem_read);
        let write = write.unwrap_or(&global.filesystem_write);
        check_folders(table, &read.value, &write.value);
    }
    overrides
}

fn overrides(table: &Table<'_>, workspace: &Setting<PathBuf>) -> CapabilityOverrides {
    let folders = |access| move |entry: &Entry<'_>| grants::folders(entry, access, workspace);
    CapabilityOverrides {
        filesystem_read: table.optional("filesystem_read", folders(Access::Read)),
        filesystem_write: table.optional("filesystem_write", folders(Access::Write)),
        network: table.optional("network", Entry::boolean),
        allowed_hosts: table.optional("allowed_hosts", hosts),
        env_vars: table.optional("env_vars", Entry::variable_names),
        max_state_bytes: table.optional("max_state_kb", |entry| {
            entry.bytes(&(0..=1 << 20), 1 << 10, "KB")
        }),
    }
}

fn or<T>(table: &Table<'_>, name: &str, setting: Option<Setting<T>>, value: T) -> Setting<T> {
    setting.unwrap_or_else(|| Setting::default_of(table.full_key(name), value))
}

fn hosts(entry: &Entry<'_>) -> Option<Vec<HostPattern>> {
    let hosts = entry.list("strings", |item| {
        match item.text()?.parse::<HostPattern>() {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                item.report(
                    Fault::error(format!("`{}` is no host", error.text))
                        .because(error.why)
                        .help("write `name:port`, for instance `\"api.example.com:443\"`"),
                );
                None
            }
        }
    })?;
    if hosts.is_empty() && entry.value.as_array().is_some_and(|hosts| hosts.is_empty()) {
        entry.report(
            Fault::error(format!("`{}` is empty", entry.key))
                .because("a network without hosts is no network")
                .help("name the hosts, or write `network = false`"),
        );
    }
    Some(hosts)
}

fn check_hosts(table: &Table<'_>, decided_by: &Setting<bool>) {
    // A `network` of the wrong type is a fault by itself.
    let undecided = table
        .entry("network")
        .is_some_and(|entry| !entry.value.is_bool());
    let hosts = table.entry("allowed_hosts");
    let Some(hosts) = hosts.filter(|_| !decided_by.value && !undecided) else {
        return;
    };
    hosts.report(
        Fault::error(format!("`{}` needs `network = true`", hosts.key))
            .because(format!("the network is off: {}", decided_by.origin()))
            .help(format!("write `network = true` into `[{}]`", table.key)),
    );
}

/// Reading and writing together must not put two folders at one place.
fn check_folders(table: &Table<'_>, read: &[FolderGrant], write: &[FolderGrant]) {
    for grant in write {
        let other = |other: &&FolderGrant| other.guest == grant.guest && other.host != grant.host;
        let Some(other) = read.iter().find(other) else {
            continue;
        };
        let written_here = ["filesystem_write", "filesystem_read"];
        if let Some(entry) = written_here.iter().find_map(|name| table.entry(name)) {
            entry.report(grants::conflict(other, grant));
        }
    }
}

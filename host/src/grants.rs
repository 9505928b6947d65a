//! From what the configuration says to what one entry, or a command without an entry,
//! may touch.
//!
//! Invariant: a key of the entry replaces the global key as a whole; what neither grants
//! is not granted.

use indexmap::IndexMap;

use crate::config::{Config, Environment, Setting, ToolEntry};
use crate::model::{FolderGrant, Grants, HostPattern};

/// The grants of an entry; `tool` is what the configuration says of it, if anything, and
/// `env` the variables that it sets.
/// Without it, what every module gets.
pub(crate) fn grants(
    config: &Config,
    tool: Option<&ToolEntry>,
    env: &IndexMap<String, String>,
    environment: &Environment,
) -> Grants {
    let global = &config.runtime.wasm.capabilities;
    let own = tool.map(|tool| &tool.capabilities);
    let read = pick(
        own.and_then(|own| own.filesystem_read.as_ref()),
        &global.filesystem_read,
    );
    let write = pick(
        own.and_then(|own| own.filesystem_write.as_ref()),
        &global.filesystem_write,
    );
    let names = pick(own.and_then(|own| own.env_vars.as_ref()), &global.env_vars);
    let network = *pick(own.and_then(|own| own.network.as_ref()), &global.network);
    let hosts = own
        .and_then(|own| own.allowed_hosts.as_ref())
        .map(|hosts| &hosts.value)
        .or(global.allowed_hosts.value.as_ref());
    Grants {
        folders: folders(write, read),
        variables: variables(config, env, names, environment),
        network: match (network, hosts) {
            (false, _) => Vec::new(),
            (true, None) => vec![HostPattern::Any],
            (true, Some(hosts)) => hosts.clone(),
        },
        state_bytes: *pick(
            own.and_then(|own| own.max_state_bytes.as_ref()),
            &global.max_state_bytes,
        ),
    }
}

fn pick<'a, T>(own: Option<&'a Setting<T>>, global: &'a Setting<T>) -> &'a T {
    &own.unwrap_or(global).value
}

/// Writing implies reading, so a folder in both lists is granted once.
fn folders(write: &[FolderGrant], read: &[FolderGrant]) -> Vec<FolderGrant> {
    let mut folders = write.to_vec();
    for grant in read {
        if !write.iter().any(|known| known.guest == grant.guest) {
            folders.push(grant.clone());
        }
    }
    folders
}

/// The variables that both lists name, and what the entry itself sets.
fn variables(
    config: &Config,
    env: &IndexMap<String, String>,
    names: &[String],
    environment: &Environment,
) -> Vec<(String, Option<String>)> {
    let mut variables: Vec<(String, Option<String>)> = Vec::new();
    for name in names {
        let listed = config.runtime.env_whitelist.value.contains(name);
        if listed && !variables.iter().any(|(known, _)| known == name) {
            let value = environment.variable(name).and_then(|value| value.to_str());
            variables.push((name.clone(), value.map(str::to_owned)));
        }
    }
    for (name, value) in env {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), Some(value.clone())));
    }
    variables
}

//! The lines of configuration that would grant an entry what it asks for.
//!
//! Invariant: they are valid TOML whatever a module asks for, they take nothing away that
//! is granted now, and nobody but a person writes them into a file.

use std::fmt::Write as _;

use prx_host::config::{CapabilityOverrides, Setting};
use prx_host::model::{Access, Capability, FolderGrant, HostPattern};

use crate::cli::granted::{Asked, Granted};

/// Kilobytes that are proposed for state.
const STATE_KB: u64 = 64;

/// A table that grants all that is asked for and not granted; `None`: there is no such
/// thing. A key of an entry replaces the one for all skills as a whole, so each list has
/// what is granted already, too.
pub fn to_grant(granted: Granted<'_>, asked: &[Asked]) -> Option<String> {
    let missing: Vec<&Capability> = asked
        .iter()
        .filter(|one| one.granted_by.is_none())
        .map(|one| &one.capability)
        .collect();
    if missing.is_empty() {
        return None;
    }
    let mut text = format!("[tools.custom.{}.capabilities]\n", granted.entry);
    let mut line = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    for (key, access) in [
        ("filesystem_read", Access::Read),
        ("filesystem_write", Access::Write),
    ] {
        let folders = folders(granted, &missing, access);
        if !folders.is_empty() {
            line(format!("{key} = {}", list(folders)));
        }
    }
    let (names, unlisted) = variables(granted, &missing);
    if !names.is_empty() {
        line(format!("env_vars = {}", list(names)));
    }
    if !unlisted.is_empty() {
        // Quoted: a name that a module made up must not begin a line of its own.
        line(format!(
            "# and add to `runtime.env_whitelist`: {}",
            list(unlisted)
        ));
    }
    if missing
        .iter()
        .any(|one| matches!(one, Capability::Network(_)))
    {
        line("network = true".to_owned());
        let hosts = hosts(granted, &missing);
        if !hosts.is_empty() {
            line(format!("allowed_hosts = {}", list(hosts)));
        }
    }
    if missing.contains(&&Capability::State) {
        line(format!("max_state_kb = {STATE_KB}"));
    }
    Some(text)
}

fn own(granted: Granted<'_>) -> Option<&CapabilityOverrides> {
    let tool = granted.config.tools.get(granted.entry)?;
    Some(&tool.capabilities)
}

/// Texts as an array of TOML, in one line whatever is in them. Strings of JSON are strings
/// of TOML, but for one character.
fn list(texts: Vec<String>) -> String {
    let texts = texts.into_iter().map(serde_json::Value::String);
    let texts: Vec<String> = texts
        .map(|text| text.to_string().replace('\u{7f}', "\\u007f"))
        .collect();
    format!("[{}]", texts.join(", "))
}

/// The folders of one key; empty: the key need not be written.
fn folders(granted: Granted<'_>, missing: &[&Capability], access: Access) -> Vec<String> {
    let new: Vec<String> = missing
        .iter()
        .filter_map(|one| match (access, one) {
            (Access::Read, Capability::ReadFolder(path))
            | (Access::Write, Capability::WriteFolder(path)) => Some(format!("<folder>::{path}")),
            _ => None,
        })
        .collect();
    if new.is_empty() {
        return new;
    }
    let now = granted.grants.folders.iter();
    let now = now.filter(|grant| grant.access == access);
    let now = now.map(|FolderGrant { host, guest, .. }| format!("{}::{guest}", host.display()));
    now.chain(new).collect()
}

/// The variables, and those of them that may not be granted yet.
fn variables(granted: Granted<'_>, missing: &[&Capability]) -> (Vec<String>, Vec<String>) {
    let new: Vec<String> = missing
        .iter()
        .filter_map(|one| match one {
            Capability::Variable(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    if new.is_empty() {
        return (new, Vec::new());
    }
    let may = &granted.config.runtime.env_whitelist.value;
    let unlisted = new.iter().filter(|name| !may.contains(name));
    let unlisted = unlisted.cloned().collect();
    let global = &granted.config.runtime.wasm.capabilities.env_vars;
    let now = own(granted).and_then(|own| own.env_vars.as_ref());
    let mut names = now.unwrap_or(global).value.clone();
    names.extend(new);
    names.dedup();
    (names, unlisted)
}

/// The hosts; empty: all of them are asked for, and no list is in force that narrows that.
fn hosts(granted: Granted<'_>, missing: &[&Capability]) -> Vec<String> {
    let new = missing.iter().filter_map(|one| match one {
        Capability::Network(host) => Some(host.clone()),
        _ => None,
    });
    let now = granted.grants.network.iter().map(HostPattern::to_string);
    // Hosts that are allowed and of no use yet, because the network is off.
    let global = granted
        .config
        .runtime
        .wasm
        .capabilities
        .allowed_hosts
        .value
        .as_ref();
    let written = own(granted)
        .and_then(|own| own.allowed_hosts.as_ref())
        .map(|hosts: &Setting<Vec<HostPattern>>| &hosts.value)
        .or(global);
    let is_narrowed = written.is_some();
    let written = written.into_iter().flatten();
    let mut hosts: Vec<String> = Vec::new();
    for host in now.chain(written.map(HostPattern::to_string)).chain(new) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    match hosts.iter().position(|host| host == "*") {
        Some(any) if is_narrowed => vec![hosts.swap_remove(any)],
        Some(_) => Vec::new(),
        None => hosts,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use prx_host::config::{Config, Environment};
    use prx_host::model::{Grants, Request};

    use super::*;
    use crate::cli::granted::compare;

    fn lines(text: &str, grants: &Grants, wanted: &[Capability]) -> Option<String> {
        let environment = Environment::new("/etc").with("HOME", "/home/ada");
        let loaded = Config::from_toml(text, Path::new("/etc/config.toml"), &environment);
        let granted = Granted {
            config: &loaded.unwrap().config,
            entry: "notes",
            grants,
        };
        let requests: Vec<Request> = wanted
            .iter()
            .map(|capability| Request {
                capability: capability.clone(),
                reason: String::new(),
                optional: false,
            })
            .collect();
        let asked = compare(granted, requests.iter(), |_| None);
        to_grant(granted, &asked)
    }

    #[test]
    fn what_is_granted_already_needs_no_line() {
        let grants = Grants {
            state_bytes: 1,
            ..Grants::default()
        };
        assert_eq!(lines("", &grants, &[Capability::State]), None);
        assert_eq!(lines("", &grants, &[]), None);
    }

    #[test]
    fn lists_keep_what_they_grant_now() {
        let text = "[runtime.wasm.capabilities]\nenv_vars = [\"LANG\"]\n\
                    [tools.custom.notes.capabilities]\nallowed_hosts = [\"old.example:1\"]\nnetwork = true\n";
        let grants = Grants {
            folders: vec![FolderGrant {
                host: "/srv/docs".into(),
                guest: "/docs".into(),
                access: Access::Read,
                granted_by: String::new(),
            }],
            variables: vec![("LANG".into(), None)],
            network: vec!["old.example:1".parse().unwrap()],
            state_bytes: 0,
        };
        let wanted = [
            Capability::ReadFolder("/more".into()),
            Capability::WriteFolder("/notes".into()),
            Capability::Variable("TOKEN".into()),
            Capability::Network("new.example:2".into()),
            Capability::State,
        ];
        assert_eq!(
            lines(text, &grants, &wanted).unwrap(),
            "[tools.custom.notes.capabilities]\n\
             filesystem_read = [\"/srv/docs::/docs\", \"<folder>::/more\"]\n\
             filesystem_write = [\"<folder>::/notes\"]\n\
             env_vars = [\"LANG\", \"TOKEN\"]\n\
             # and add to `runtime.env_whitelist`: [\"TOKEN\"]\n\
             network = true\n\
             allowed_hosts = [\"old.example:1\", \"new.example:2\"]\n\
             max_state_kb = 64\n"
        );
        let all = [
            Capability::Network("new.example:2".into()),
            Capability::Network("*".into()),
        ];
        assert_eq!(
            lines("", &Grants::default(), &all).unwrap(),
            "[tools.custom.notes.capabilities]\nnetwork = true\n"
        );
        assert_eq!(
            lines(text, &grants, &all).unwrap(),
            "[tools.custom.notes.capabilities]\nnetwork = true\nallowed_hosts = [\"*\"]\n"
        );
    }

    #[test]
    fn a_module_can_not_smuggle_lines_into_them() {
        let bad = "x\"]\r\n[tools.shell]\nenabled = true\n#\u{7f}\u{1}\\\u{2028}";
        let wanted = [
            Capability::ReadFolder(bad.into()),
            Capability::WriteFolder(bad.into()),
            Capability::Variable(bad.into()),
            Capability::Network(bad.into()),
        ];
        let text = lines("", &Grants::default(), &wanted).unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["tools"]);
        assert_eq!(table["tools"].as_table().unwrap().len(), 1, "{text}");
        let keys = table["tools"]["custom"]["notes"]["capabilities"].as_table();
        assert_eq!(keys.unwrap().len(), 5, "{text}");
        assert_eq!(keys.unwrap()["env_vars"][0].as_str(), Some(bad));
        assert_eq!(text.lines().count(), 7, "{text}");
    }
}

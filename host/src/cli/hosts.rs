//! What running hosts serve, in words, for commands that look at files themselves.

use prx_host::{Notice, Snapshot};

use super::facts;

/// What running hosts serve differently than a fresh start would: for `list`.
pub fn notes(snapshot: &Snapshot, hosts: &[Notice]) -> Vec<String> {
    let mut notes = Vec::new();
    for host in hosts {
        for broken in &host.broken {
            let serves = match &broken.serving {
                Some(serving) => format!(
                    "serves the version that is in force since {}{}",
                    serving.since,
                    facts::short_version(serving.version.as_deref()),
                ),
                None => "does not serve it".into(),
            };
            notes.push(format!(
                "process {} {serves} of `{}`: {}",
                host.pid, broken.name, broken.reason
            ));
        }
        for tool in &host.tools {
            let here = snapshot.tool(&tool.name);
            let is_other = here.is_some_and(|here| here.entry().version() != tool.version);
            let is_explained = host
                .broken
                .iter()
                .any(|broken| here.is_some_and(|here| here.entry().name() == broken.name));
            if is_other && !is_explained {
                notes.push(format!(
                    "process {} serves another version of `{}` since {}{}",
                    host.pid,
                    tool.name,
                    tool.since,
                    facts::short_version(tool.version.as_deref()),
                ));
            }
        }
    }
    notes
}

//! What is shown of tools and entries, gathered once for every command that shows it.

use std::path::{Path, PathBuf};

use prx_host::model::{Access, Grants, Shown as _, format_bytes};
use prx_host::{Entry, Snapshot, Tool};
use serde_json::{Value, json};

use super::render::Line;

/// What is known about the module of an entry.
pub struct ModuleFacts {
    /// The file.
    pub path: PathBuf,
    /// For instance `skill`.
    pub kind: String,
    /// The version of the kind's interface.
    pub version: String,
    /// Both, for people.
    pub in_words: String,
}

/// The module of an entry; `None` for entries that have none.
#[cfg(feature = "wasm-runtime")]
pub fn module(entry: &Entry) -> Option<ModuleFacts> {
    let module = entry.module()?;
    let descriptor = module.descriptor();
    Some(ModuleFacts {
        path: module.path().to_owned(),
        kind: descriptor.kind.clone(),
        version: descriptor.version.clone(),
        in_words: descriptor.in_words(),
    })
}

/// The module of an entry; `None` for entries that have none.
#[cfg(not(feature = "wasm-runtime"))]
pub fn module(_entry: &Entry) -> Option<ModuleFacts> {
    None
}

/// A version, short and not so short that it is taken for another.
pub fn short(version: &str) -> String {
    const SHOWN: usize = 12;
    version.chars().take(SHOWN).collect()
}

/// The same in brackets.
pub fn short_version(version: Option<&str>) -> String {
    version.map_or_else(String::new, |version| format!(" ({})", short(version)))
}

/// A module's path, short where it lies in the module folder.
pub fn short_path(path: &Path, module_folder: &Path) -> String {
    path.strip_prefix(module_folder)
        .unwrap_or(path)
        .shown()
        .to_string()
}

/// A granted folder that is not there, and the tools that wait for it.
pub struct MissingFolder {
    host: String,
    granted_by: String,
    tools: Vec<String>,
}

impl MissingFolder {
    /// All of a snapshot, each once however many tools it was granted to.
    pub fn all(snapshot: &Snapshot) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for tool in snapshot.tools() {
            for grant in tool.entry().missing_folders() {
                let (host, name) = (grant.host.shown().to_string(), tool.name().to_owned());
                let granted_by = grant.granted_by.clone();
                let is_known =
                    |known: &&mut Self| known.host == host && known.granted_by == granted_by;
                match all.iter_mut().find(is_known) {
                    Some(known) => known.tools.push(name),
                    None => all.push(Self {
                        host,
                        granted_by,
                        tools: vec![name],
                    }),
                }
            }
        }
        all
    }

    /// What is wrong.
    pub fn what(&self) -> String {
        format!("the granted folder `{}` is missing", self.host)
    }

    /// Why that matters, and what to do.
    pub fn lines(&self) -> Vec<Line> {
        vec![
            (
                "cause",
                format!("{} grants it to {}", self.granted_by, names(&self.tools)),
            ),
            (
                "help",
                "create the folder, or correct the key; until then calls are refused".into(),
            ),
        ]
    }
}

/// Some names in words.
pub fn names(tools: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = tools
        .iter()
        .take(SHOWN)
        .map(|tool| format!("`{}`", tool.shown()))
        .collect();
    if tools.len() > SHOWN {
        names.push(format!("{} more", tools.len() - SHOWN));
    }
    names.join(", ")
}

/// Grants in one line.
pub fn grants_in_short(grants: &Grants) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (access, word) in [(Access::Read, "read"), (Access::Write, "write")] {
        let folders = grants.folders.iter().filter(|grant| grant.access == access);
        push_named(&mut parts, word, folders.map(|grant| grant.guest.clone()));
    }
    push_named(
        &mut parts,
        "env",
        grants.variables.iter().map(|(name, _)| name.clone()),
    );
    push_named(
        &mut parts,
        "network",
        grants.network.iter().map(ToString::to_string),
    );
    if grants.state_bytes > 0 {
        parts.push(format!("state {}", format_bytes(grants.state_bytes)));
    }
    if parts.is_empty() {
        "none".into()
    } else {
        parts.join(", ")
    }
}

fn push_named(parts: &mut Vec<String>, word: &str, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        parts.push(format!("{word} {}", names.join(" ")));
    }
}

/// Limits of an entry for programs, each with what set it.
pub fn limits_json(entry: &Entry) -> Value {
    let limits = entry.limits();
    json!({
        "timeout_ms": { "value": milliseconds(limits.timeout.value), "set_by": limits.timeout.origin() },
        "max_memory_bytes": { "value": limits.max_memory.value, "set_by": limits.max_memory.origin() },
        "max_output_bytes": { "value": limits.max_output.value, "set_by": limits.max_output.origin() },
    })
}

/// A duration in milliseconds, to the microsecond.
pub fn milliseconds(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// A tool for programs: everything that is known about it.
pub fn tool_json(tool: &Tool) -> Value {
    let (entry, spec) = (tool.entry(), tool.spec());
    let module = module(entry);
    let missing: Vec<Value> = entry
        .missing_folders()
        .map(|grant| json!({ "host": grant.host, "guest": grant.guest, "granted_by": grant.granted_by }))
        .collect();
    json!({
        "tool": tool.name(),
        "state": if missing.is_empty() { "ready" } else { "folder_missing" },
        "missing_folders": missing,
        "entry": entry.name(),
        "place": entry.place().map(ToString::to_string),
        "backend": entry.backend().as_str(),
        "module": module.as_ref().map(|module| module.path.display().to_string()),
        "kind": module.as_ref().map(|module| &module.kind),
        "version": module.as_ref().map(|module| &module.version),
        "name_in_module": spec.name,
        "title": spec.title,
        "description": spec.description,
        "hints": spec.hints,
        "requests": spec.requests,
        "grants": entry.grants(),
        "limits": limits_json(entry),
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
        "findings": tool.findings(),
    })
}

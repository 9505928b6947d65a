//! What tools ask for against what is granted, and which key grants it.

use std::fmt::Write as _;
use std::path::Path;

use prx_host::config::{Config, Setting};
use prx_host::model::{Access, Capability, FolderGrant, Grants, Request, Shown as _, format_bytes};
use serde::Serialize;

use super::render::{Screen, columns, indented};

/// One thing that tools of an entry ask for or are granted.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The thing.
    #[serde(flatten)]
    pub capability: Capability,
    /// Whether a tool asks for it, and can do without it.
    pub need: Need,
    /// Why, in the author's words.
    pub reason: String,
    /// The key that grants it; `None`: it is not granted.
    pub granted_by: Option<String>,
    /// The folder of this machine, where one is granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_folder: Option<String>,
    /// What would grant it.
    pub help: Option<String>,
}

impl Asked {
    /// The thing in words, with the folder of this machine that a granted one is.
    pub fn in_words(&self) -> String {
        match &self.host_folder {
            Some(folder) => format!("{} (`{}`)", self.capability, folder.shown()),
            None => self.capability.to_string(),
        }
    }
}

/// How much a thing is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The tool does not work without it.
    Required,
    /// The tool works without it too.
    Optional,
    /// No tool asks for it; it is granted all the same.
    NotAsked,
}

impl Need {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Optional => "optional",
            Self::NotAsked => "not asked for",
        }
    }
}

/// An entry, and what it may touch.
#[derive(Clone, Copy)]
pub struct Granted<'a> {
    /// The configuration in force.
    pub config: &'a Config,
    /// The name of the entry.
    pub entry: &'a str,
    /// What it is granted.
    pub grants: &'a Grants,
}

/// All that the tools of an entry ask for, and then what is granted besides. `help` says
/// what would grant a thing.
pub fn compare<'a>(
    granted: Granted<'_>,
    requests: impl Iterator<Item = &'a Request>,
    help: impl Fn(&Capability) -> Option<String>,
) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for request in requests {
        let known = all
            .iter_mut()
            .find(|asked| asked.capability == request.capability);
        match known {
            Some(asked) if !request.optional => asked.need = Need::Required,
            Some(_) => {}
            None => all.push(asked(granted, request, &help)),
        }
    }
    for capability in capabilities(granted.grants) {
        if !all
            .iter()
            .any(|asked| covers(&capability, &asked.capability, granted.grants))
        {
            let granted_by = Some(key_of(granted, &capability));
            let host_folder = host_folder(granted, &capability);
            let (need, reason) = (Need::NotAsked, String::new());
            all.push(Asked {
                capability,
                need,
                reason,
                granted_by,
                host_folder,
                help: None,
            });
        }
    }
    all
}

/// Everything that is granted, as wide as it is, and the key that grants it: a module that
/// asks for little may be granted more.
pub fn exact(granted: Granted<'_>) -> Vec<(String, String)> {
    let all = capabilities(granted.grants).into_iter().map(|one| {
        let mut what = one.to_string();
        if let Some(folder) = host_folder(granted, &one) {
            let _ = write!(what, " (`{}`)", folder.shown());
        }
        if one == Capability::State {
            let _ = write!(what, ", {}", format_bytes(granted.grants.state_bytes));
        }
        (what, key_of(granted, &one))
    });
    all.collect()
}

fn asked(
    granted: Granted<'_>,
    request: &Request,
    help: impl Fn(&Capability) -> Option<String>,
) -> Asked {
    let capability = request.capability.clone();
    let is_granted = granted.grants.satisfy(&capability);
    Asked {
        need: if request.optional {
            Need::Optional
        } else {
            Need::Required
        },
        reason: request.reason.clone(),
        granted_by: is_granted.then(|| key_of(granted, &capability)),
        host_folder: host_folder(granted, &capability).filter(|_| is_granted),
        help: if is_granted { None } else { help(&capability) },
        capability,
    }
}

/// Grants as the capabilities that they are.
fn capabilities(grants: &Grants) -> Vec<Capability> {
    let mut all: Vec<Capability> = grants
        .folders
        .iter()
        .map(|grant| match grant.access {
            Access::Read => Capability::ReadFolder(grant.guest.clone()),
            Access::Write => Capability::WriteFolder(grant.guest.clone()),
        })
        .collect();
    all.extend(
        grants
            .variables
            .iter()
            .map(|(name, _)| Capability::Variable(name.clone())),
    );
    all.extend(
        grants
            .network
            .iter()
            .map(|host| Capability::Network(host.to_string())),
    );
    if grants.state_bytes > 0 {
        all.push(Capability::State);
    }
    all
}

/// Whether what is asked for is served by this grant.
fn covers(granted: &Capability, asked: &Capability, grants: &Grants) -> bool {
    use Capability::{Network, ReadFolder, WriteFolder};
    match (granted, asked) {
        (ReadFolder(guest) | WriteFolder(guest), ReadFolder(path) | WriteFolder(path)) => {
            Path::new(path).starts_with(guest) && grants.satisfy(asked)
        }
        (Network(_), Network(_)) => grants.satisfy(asked),
        (granted, asked) => granted == asked,
    }
}

/// The key that grants a thing, with its place: the entry's own where it has one.
fn key_of(granted: Granted<'_>, capability: &Capability) -> String {
    let Granted {
        config,
        entry,
        grants,
    } = granted;
    let own = config.tools.get(entry);
    let overrides = own.map(|tool| &tool.capabilities);
    let global = &config.runtime.wasm.capabilities;
    match capability {
        Capability::ReadFolder(path) | Capability::WriteFolder(path) => folder(grants, path)
            .map(|grant| grant.granted_by.clone())
            .unwrap_or_default(),
        Capability::Variable(name) => match own.filter(|tool| tool.env.value.contains_key(name)) {
            Some(tool) => tool.env.origin(),
            None => origin(
                overrides.and_then(|own| own.env_vars.as_ref()),
                &global.env_vars,
            ),
        },
        Capability::Network(_) => origin(
            overrides.and_then(|own| own.network.as_ref()),
            &global.network,
        ),
        Capability::State => origin(
            overrides.and_then(|own| own.max_state_bytes.as_ref()),
            &global.max_state_bytes,
        ),
    }
}

/// The granted folder that a path of the guest is in.
fn folder<'a>(grants: &'a Grants, path: &str) -> Option<&'a FolderGrant> {
    let folders = grants.folders.iter();
    folders
        .filter(|grant| Path::new(path).starts_with(&grant.guest))
        .max_by_key(|grant| grant.access)
}

fn host_folder(granted: Granted<'_>, capability: &Capability) -> Option<String> {
    match capability {
        Capability::ReadFolder(path) | Capability::WriteFolder(path) => {
            folder(granted.grants, path).map(|grant| grant.host.display().to_string())
        }
        Capability::Variable(_) | Capability::Network(_) | Capability::State => None,
    }
}

fn origin<T>(own: Option<&Setting<T>>, global: &Setting<T>) -> String {
    own.unwrap_or(global).origin()
}

/// A table for people, for standard output.
pub fn table(asked: &[Asked], screen: Screen) -> String {
    if asked.is_empty() {
        return "  nothing is asked for, and nothing is granted\n".to_owned();
    }
    let mut rows = vec![
        ["what", "need", "granted by", "why"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(asked.iter().map(|one| {
        let granted_by = one.granted_by.as_deref().unwrap_or("NOT GRANTED");
        vec![
            one.in_words(),
            one.need.as_str().to_owned(),
            granted_by.to_owned(),
            one.reason.clone(),
        ]
    }));
    indented(&screen.guest_out(&columns(&rows)), 2)
}

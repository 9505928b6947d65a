//! Permissions: what a module asks for and what an operator grants. Default: nothing.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Shown as _;

/// What one tool entry may touch, computed once when its configuration is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grants {
    /// Folders, in the order they were granted.
    pub folders: Vec<FolderGrant>,
    /// Environment variables that are granted, with their values where they are set.
    /// Values are never printed.
    #[serde(serialize_with = "names_only")]
    pub variables: Vec<(String, Option<String>)>,
    /// Hosts that may be reached; empty is no network at all.
    pub network: Vec<HostPattern>,
    /// Bytes of state that may be kept between calls; 0 is none.
    pub state_bytes: u64,
}

fn names_only<S: serde::Serializer>(
    variables: &[(String, Option<String>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(variables.iter().map(|(name, _)| name))
}

impl Grants {
    /// Whether a thing that a tool asks for is granted.
    pub fn satisfy(&self, capability: &Capability) -> bool {
        let folder = |path: &str, access: Access| {
            self.folders
                .iter()
                .any(|grant| grant.access >= access && is_within(path, &grant.guest))
        };
        match capability {
            Capability::ReadFolder(path) => folder(path, Access::Read),
            Capability::WriteFolder(path) => folder(path, Access::Write),
            Capability::Variable(name) => self.variables.iter().any(|(known, _)| known == name),
            Capability::Network(host) => match host.parse::<HostPattern>() {
                Ok(HostPattern::Any) | Err(_) => self.network.contains(&HostPattern::Any),
                Ok(HostPattern::Host {
                    name,
                    port: Some(port),
                }) => self
                    .network
                    .iter()
                    .any(|pattern| pattern.allows(&name, port)),
                Ok(asked @ HostPattern::Host { .. }) => self
                    .network
                    .iter()
                    .any(|pattern| *pattern == HostPattern::Any || *pattern == asked),
            },
            Capability::State => self.state_bytes > 0,
        }
    }

    /// The requests that are not granted and that the tool can not do without.
    pub fn unmet<'a>(&self, requests: &'a [Request]) -> Vec<&'a Request> {
        requests
            .iter()
            .filter(|request| !request.optional && !self.satisfy(&request.capability))
            .collect()
    }
}

/// Whether a guest path lies in a granted one, by whole components.
fn is_within(path: &str, folder: &str) -> bool {
    std::path::Path::new(path).starts_with(folder)
}

/// A folder of the host that appears at a path of the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FolderGrant {
    /// Absolute path on the host.
    pub host: PathBuf,
    /// Absolute path that the guest sees.
    pub guest: String,
    /// Whether the guest may change it.
    pub access: Access,
    /// The configuration key that granted it, with file and line, for messages.
    pub granted_by: String,
}

/// Whether a folder may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// One thing that a tool asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The thing.
    #[serde(flatten)]
    pub capability: Capability,
    /// Why, in the author's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether the tool also works without it.
    #[serde(default)]
    pub optional: bool,
}

/// A thing that can be granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "capability", content = "target", rename_all = "snake_case")]
pub enum Capability {
    /// Read the folder at this guest path.
    ReadFolder(String),
    /// Read and change the folder at this guest path.
    WriteFolder(String),
    /// Read the environment variable of this name.
    Variable(String),
    /// Reach this `host:port`, or `*` for any.
    Network(String),
    /// Keep values between calls.
    State,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadFolder(path) => write!(f, "read `{}`", path.shown()),
            Self::WriteFolder(path) => write!(f, "write `{}`", path.shown()),
            Self::Variable(name) => write!(f, "variable `{}`", name.shown()),
            Self::Network(host) if host == "*" => f.write_str("network"),
            Self::Network(host) => write!(f, "network `{}`", host.shown()),
            Self::State => f.write_str("state"),
        }
    }
}

/// A host and port that may be reached, or any.
///
/// Written `*`, `name:port`, `name` (any port), `192.0.2.7:443` or `[2001:db8::1]:443`.
/// Names compare without case and without a trailing dot; there are no wildcards
/// inside a name and no substring matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum HostPattern {
    /// Any host, any port.
    Any,
    /// This host, on this port or on any.
    Host {
        /// Lower case, no trailing dot; an IP address in its canonical form.
        name: String,
        /// `None` is any port.
        port: Option<u16>,
    },
}

/// Why a text is no [`HostPattern`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not `host`, `host:port` or `*`: {why}")]
pub struct HostPatternError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |why| HostPatternError {
            text: text.to_owned(),
            why,
        };
        if text == "*" {
            return Ok(Self::Any);
        }
        if text.contains("://") || text.contains(['/', '@', '?', '#', ' ']) {
            return Err(error(
                "write the bare host name, without scheme, user or path",
            ));
        }
        let (name, port) = if let Some(rest) = text.strip_prefix('[') {
            let (name, rest) = rest
                .split_once(']')
                .ok_or_else(|| error("`[` is not closed"))?;
            let address: std::net::Ipv6Addr =
                name.parse().map_err(|_| error("not an IPv6 address"))?;
            let port = match rest.strip_prefix(':') {
                Some(port) => Some(port),
                None if rest.is_empty() => None,
                None => return Err(error("text after `]`")),
            };
            (address.to_string(), port)
        } else if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
            (address.to_string(), None)
        } else {
            match text.split_once(':') {
                Some((name, port)) => (name.to_owned(), Some(port)),
                None => (text.to_owned(), None),
            }
        };
        let port = match port {
            None => None,
            Some(port) => match port.parse::<u16>() {
                Ok(0) | Err(_) => return Err(error("the port is not a number from 1 to 65535")),
                Ok(port) => Some(port),
            },
        };
        let name = name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase();
        if name.is_empty() {
            return Err(error("the host name is empty"));
        }
        let is_name_letter =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
        if !name.chars().all(is_name_letter) {
            return Err(error(
                "a host name has letters, digits, `-` and `.`; wildcards are not supported",
            ));
        }
        Ok(Self::Host { name, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Host { name, port } => {
                if name.contains(':') {
                    write!(f, "[{name}]")?;
                } else {
                    f.write_str(name)?;
                }
                match port {
                    Some(port) => write!(f, ":{port}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

impl HostPattern {
    /// Whether this pattern allows that host name (or IP address) and port.
    pub fn allows(&self, host: &str, to_port: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Host { name, port } => {
                let host = host.strip_suffix('.').unwrap_or(host);
                name.eq_ignore_ascii_case(host) && port.is_none_or(|port| port == to_port)
            }
        }
    }

    /// Whether some port of that host is allowed, so that its name may be looked up.
    pub fn allows_lookup(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Host { name, .. } => {
                name.eq_ignore_ascii_case(host.strip_suffix('.').unwrap_or(host))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_granted_satisfies_a_request() {
        let grants = Grants {
            folders: vec![FolderGrant {
                host: "/srv/docs".into(),
                guest: "/docs".into(),
                access: Access::Read,
                granted_by: String::new(),
            }],
            variables: vec![("LANG".into(), None)],
            network: vec!["api.example.com:443".parse().unwrap()],
            state_bytes: 0,
        };
        for granted in [
            Capability::ReadFolder("/docs".into()),
            Capability::ReadFolder("/docs/sub".into()),
            Capability::Variable("LANG".into()),
            Capability::Network("api.example.com:443".into()),
        ] {
            assert!(grants.satisfy(&granted), "{granted}");
        }
        for missing in [
            Capability::ReadFolder("/docsx".into()),
            Capability::ReadFolder("/".into()),
            Capability::WriteFolder("/docs".into()),
            Capability::Variable("HOME".into()),
            Capability::Network("api.example.com".into()),
            Capability::Network("*".into()),
            Capability::State,
        ] {
            assert!(!grants.satisfy(&missing), "{missing}");
        }
    }

    #[test]
    fn patterns_print_as_they_parse() {
        for text in [
            "*",
            "example.com",
            "example.com:443",
            "192.0.2.7:80",
            "[2001:db8::1]:443",
        ] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn patterns_that_mean_something_else_are_refused() {
        for text in [
            "",
            ":80",
            "http://example.com",
            "example.com/x",
            "ok@evil.com",
            "*.example.com",
            "example.com:0",
            "example.com:http",
            "example.com:70000",
            "[::1",
            "[::1]x",
            "a b",
        ] {
            assert!(
                text.parse::<HostPattern>().is_err(),
                "{text:?} was accepted"
            );
        }
    }

    #[test]
    fn names_match_whole_and_without_case() {
        let pattern: HostPattern = "API.example.com.:443".parse().unwrap();
        assert!(pattern.allows("api.example.com", 443));
        assert!(pattern.allows("API.EXAMPLE.COM.", 443));
        assert!(!pattern.allows("api.example.com", 80));
        assert!(!pattern.allows("evil-api.example.com", 443));
        assert!(!pattern.allows("api.example.com.evil.org", 443));
    }
}

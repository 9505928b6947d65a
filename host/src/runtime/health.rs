//! What `doctor` says of one backend or sandbox: whether it works, and if not, why and
//! what to do. Found out by using it, not by looking for a file.

use serde::Serialize;

use super::RuntimeError;

/// How one backend or sandbox is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Health {
    /// For instance `docker`, or `bubblewrap`.
    pub name: &'static str,
    /// Whether it can be used now.
    pub usable: bool,
    /// What it is, with its version, where it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What works, or why it does not: one line each.
    pub notes: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Health {
    /// It works.
    pub fn good(name: &'static str, version: impl Into<String>) -> Self {
        Self {
            name,
            usable: true,
            version: Some(version.into()),
            notes: Vec::new(),
            help: None,
        }
    }

    /// It does not work.
    pub fn bad(name: &'static str, error: &RuntimeError) -> Self {
        let (reason, help) = match error {
            RuntimeError::Unavailable { reason, help, .. }
            | RuntimeError::Sandbox { reason, help, .. } => (reason.clone(), Some(help.clone())),
            other => (other.to_string(), other.help()),
        };
        Self {
            name,
            usable: false,
            version: None,
            notes: vec![reason],
            help,
        }
    }

    /// The same with one more line.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

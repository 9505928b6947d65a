//! What the calls of one tool entry may touch, made ready once when the entry is loaded.
//!
//! Invariant: a store gets exactly what stands here; what is missing here does not exist
//! for the guest.

use std::sync::Arc;

use indexmap::IndexMap;

use super::imports::StateGrant;
use super::state::Namespace;
use crate::model::{FolderGrant, Grants, HostPattern, Shown as _};

/// The grants of an entry, in the form in which a call needs them. Clones are the same: a
/// call has one handle of them all, since each costs where calls run side by side.
#[derive(Clone)]
pub struct Access(Arc<Granted>);

struct Granted {
    folders: Vec<FolderGrant>,
    variables: Vec<(String, String)>,
    network: Vec<HostPattern>,
    state: Option<StateGrant>,
    config: IndexMap<String, String>,
}

/// A granted folder that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the granted folder `{}` (`{}` for the guest) can not be opened: {reason}", grant.host.shown(), grant.guest)]
pub struct MissingFolder {
    /// What was granted.
    pub grant: FolderGrant,
    /// What the system says.
    pub reason: String,
}

impl MissingFolder {
    pub(super) fn new(grant: &FolderGrant, error: &wasmtime::Error) -> Self {
        Self {
            grant: grant.clone(),
            reason: error.root_cause().to_string(),
        }
    }
}

impl Access {
    /// Nothing at all.
    pub fn none() -> Self {
        Self::new(&Grants::default(), None, IndexMap::new())
    }

    /// Exactly `grants`; `namespace` is used where state is among them.
    pub fn new(
        grants: &Grants,
        namespace: Option<Arc<Namespace>>,
        config: IndexMap<String, String>,
    ) -> Self {
        let state = namespace
            .filter(|_| grants.state_bytes > 0)
            .map(|namespace| StateGrant {
                namespace,
                quota: grants.state_bytes,
            });
        Self(Arc::new(Granted {
            folders: grants.folders.clone(),
            variables: grants
                .variables
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
                .collect(),
            network: grants.network.clone(),
            state,
            config,
        }))
    }

    /// The folders that are granted.
    pub(super) fn folders(&self) -> &[FolderGrant] {
        &self.0.folders
    }

    /// The environment.
    pub(super) fn variables(&self) -> &[(String, String)] {
        &self.0.variables
    }

    /// Hosts that may be reached.
    pub(super) fn network(&self) -> &[HostPattern] {
        &self.0.network
    }

    /// The store of the entry; `None` where no state was granted.
    pub(super) fn state(&self) -> Option<&StateGrant> {
        self.0.state.as_ref()
    }

    /// `[tools.custom.<name>.config]`, each value as JSON text.
    pub(super) fn config(&self) -> &IndexMap<String, String> {
        &self.0.config
    }
}

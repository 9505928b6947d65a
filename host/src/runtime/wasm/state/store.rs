//! The folder of all namespaces. Invariant: one `Namespace` per name and store, so that
//! all callers of a name share its connections.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::error::StateError;
use super::file_name;
use super::namespace::Namespace;

/// Durable state of all tool entries, under one folder.
///
/// Nothing is touched until a namespace is used for the first time.
#[derive(Debug)]
pub struct StateStore {
    folder: PathBuf,
    namespaces: Mutex<HashMap<String, Weak<Namespace>>>,
}

impl StateStore {
    /// State under `folder`, which is made, for this user alone, when it is first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            namespaces: Mutex::default(),
        }
    }

    /// The namespace of a tool entry. Opens nothing.
    ///
    /// Keep the answer for as long as the tool is loaded: its connections close with it.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] if `name` does not match `^[a-zA-Z0-9_-]{1,64}$`.
    pub fn namespace(&self, name: &str) -> Result<Arc<Namespace>, StateError> {
        let file = file_name::of_namespace(name).ok_or_else(|| {
            StateError::Unavailable(format!(
                "`{}` can not name a store of state; use 1 to 64 of `a-z A-Z 0-9 _ -`",
                name.escape_debug()
            ))
        })?;
        let mut namespaces = self
            .namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = namespaces.get(name).and_then(Weak::upgrade) {
            return Ok(known);
        }
        namespaces.retain(|_, namespace| namespace.strong_count() > 0);
        let namespace = Arc::new(Namespace::at(self.folder.join(file)));
        namespaces.insert(name.to_owned(), Arc::downgrade(&namespace));
        Ok(namespace)
    }
}

//! Modules go into the module folder and out of it: looked at before, whole or not at all.
//!
//! Invariant: what lies in the folder is what was examined, byte for byte; nothing is
//! written through a link or outside of the folder; the configuration is never written.
//! Whoever calls these functions asks a person where something would be granted, replaced
//! or removed: see [`Served::grants`] and [`Present`].

mod candidate;
mod claims;
mod error;
mod folder;
mod name;
mod naming_entries;
mod preview;
mod removal;
mod temporary;

pub use candidate::{Candidate, Present, Replace, examine_module};
pub use error::{InstallError, RemoveError};
pub use name::ModuleName;
pub use preview::Served;
pub use removal::{NamedBy, Removal, find_removal};

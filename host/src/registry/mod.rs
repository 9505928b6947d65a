//! What can be called at one moment: planned from configuration and module folder,
//! loaded, named, and frozen into a [`Snapshot`].

mod assemble;
mod entry;
mod grants;
mod naming;
mod plan;
mod snapshot;

#[cfg(feature = "wasm-runtime")]
pub(crate) use assemble::Assembler;
#[cfg(not(feature = "wasm-runtime"))]
pub(crate) use assemble::without_modules;
pub use assemble::{LoadEvent, LoadListener};
pub use entry::{Entry, EntryLimits};
pub(crate) use naming::may_have;
pub(crate) use plan::Scope;
pub use snapshot::{Broken, Snapshot, Tool};

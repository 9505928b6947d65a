//! What can be called at one moment: planned from configuration and module folder,
//! loaded, named, and frozen into a [`Snapshot`].

mod assemble;
mod commands;
mod entry;
#[cfg(feature = "wasm-runtime")]
mod files;
mod folder;
mod limits;
mod made;
#[cfg(feature = "wasm-runtime")]
mod modules;
mod naming;
mod patience;
mod plan;
mod provided;
#[cfg(feature = "wasm-runtime")]
mod reading;
mod snapshot;

pub(crate) use assemble::{Assembler, Latest};
pub use assemble::{LoadEvent, LoadListener};
#[cfg(feature = "wasm-runtime")]
pub(crate) use entry::Skill;
pub(crate) use entry::{CommandTool, Runner};
pub use entry::{Entry, EntryLimits, Started};
#[cfg(feature = "wasm-runtime")]
pub(crate) use files::ModuleFiles;
#[cfg(feature = "wasm-runtime")]
pub(crate) use modules::Modules;
pub(crate) use naming::may_have;
#[cfg(feature = "wasm-runtime")]
pub(crate) use naming::{MAX_NAME_BYTES, is_name, is_name_byte};
pub(crate) use patience::Patience;
#[cfg(feature = "wasm-runtime")]
pub(crate) use plan::SHELL;
pub(crate) use plan::Scope;
#[cfg(feature = "mcp")]
pub(crate) use provided::text_of;
pub use snapshot::{Broken, Serving, Snapshot, Tool};

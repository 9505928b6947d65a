//! What the end-to-end suites stand on: where the built guests and skills are, modules
//! made by hand, hosts set up in folders of their own, and processes of one's own. The
//! suites themselves are under `suites/`.

mod built;
pub mod calls;
pub mod commands;
pub mod containers;
pub mod fixtures;
mod parts;
pub mod process;
mod program;
pub mod served;
mod stage;
mod versions;

pub use built::{foreign, guest, guests, plugin, plugins, workspace};
pub use parts::Parts;
pub use program::program;
pub use served::{Answer, LONG, Served, TOKEN, about_itself, server};
pub use stage::Stage;
pub use versions::Versions;

/// The README's Rust snippets, compiled: the first skill and the embedded host.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

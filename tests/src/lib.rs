//! What the end-to-end suites stand on: where the built guests and skills are, and
//! modules made by hand. The suites themselves are under `suites/`.

mod built;
pub mod fixtures;
mod parts;
mod program;

pub use built::{guest, guests, plugin, plugins, workspace};
pub use parts::Parts;
pub use program::program;

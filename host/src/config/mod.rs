//! Configuration: found, read, checked, and turned into plain data.
//!
//! [`discover`] finds the file, [`Config::load`] reads it, and all faults of it come back
//! together as [`Faults`]. Nothing here runs or opens what a configuration names, and
//! nothing looks at the process except through an [`Environment`].

mod amounts;
mod check;
mod discover;
mod document;
mod effective;
mod environment;
mod fault;
mod json;
mod load;
mod paths;
mod reader;
mod redact;
mod render;
mod serving;
mod settings;
mod source;
mod suggest;
mod template;
mod values;
mod web;

pub use discover::{CONFIG_VARIABLE, DiscoverError, Discovered, NamedBy, discover, standard_file};
pub use effective::{EffectiveKey, Origin};
pub use environment::Environment;
pub use fault::{Fault, Faults, Related, Severity};
pub use load::Loaded;
pub(crate) use load::read;
pub use serving::*;
pub use settings::*;
pub(crate) use suggest::nearest;
pub use template::template;
#[cfg(feature = "mcp")]
pub(crate) use web::{allows_origin, with_port};
pub use web::{check_host, check_origin};

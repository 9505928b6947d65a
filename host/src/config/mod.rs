//! Configuration: found, read, checked, and turned into plain data.
//!
//! [`discover`] finds the file, [`Config::load`] reads it, and all faults of it come back
//! together as [`Faults`]. Nothing here runs or opens what a configuration names, and
//! nothing looks at the process except through an [`Environment`].

mod amounts;
mod check;
mod discover;
mod environment;
mod fault;
mod json;
mod load;
mod paths;
mod reader;
mod render;
mod settings;
mod source;
mod suggest;
mod values;

pub use discover::{CONFIG_VARIABLE, DiscoverError, Discovered, NamedBy, discover, standard_file};
pub use environment::Environment;
pub use fault::{Fault, Faults, Related, Severity};
pub use load::Loaded;
pub use settings::*;

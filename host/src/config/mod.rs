//! Configuration: found, read, checked, and turned into plain data.

mod settings;

pub use settings::*;

//! Real clients at the other end, which nobody here wrote: the official conformance suite,
//! the Python SDK and the inspector's command line. `cargo xtask test` fetches them.

mod conformance;
mod fetched;
mod fixture;
mod inspector;
mod python;

//! Configuration files as a whole: those that the documents print must load unchanged,
//! faulty ones must say all that is wrong with them.

mod arbitrary;
mod discovery;
mod effective;
mod meaning;
mod messages;

use std::path::Path;

use prx_host::config::{Config, Environment, Faults, Loaded};

/// Where the configuration pretends to stand, so that messages are the same everywhere.
const FILE: &str = "/etc/openprx/config.toml";

fn environment() -> Environment {
    Environment::new("/srv/project").with("HOME", "/home/ada")
}

fn load(text: &str) -> Result<Loaded, Faults> {
    Config::from_toml(text, Path::new(FILE), &environment())
}

//! What `doctor` says of the engine: found out by asking it.

use super::connect;
use super::faults::DOCKER;
use crate::config::{Config, Environment};
use crate::runtime::{Health, Result};

/// Whether an engine answers.
pub(crate) async fn reach(config: &Config, environment: &Environment) -> Result<()> {
    connect::connect(config, environment).await.map(drop)
}

/// Whether containers can be had, from which engine and with what; else why not.
pub async fn health(config: &Config, environment: &Environment) -> Health {
    let connection = match connect::connect(config, environment).await {
        Ok(connection) => connection,
        Err(error) => return Health::bad(DOCKER, &error),
    };
    let engine = &connection.engine;
    let mut health = Health::good(DOCKER, format!("{}, API {}", engine.version, engine.api))
        .note(format!("answers at `{}`", connection.address));
    if let Some(version) = &engine.cgroups {
        health = health.note(format!("control groups v{version}"));
    }
    if let Some(driver) = &engine.storage {
        health = health.note(format!("keeps images with {driver}"));
    }
    if engine.rootless {
        health = health.note("rootless: its root is an ordinary user of this machine");
    }
    if engine.remaps_users {
        health = health.note("remaps users; containers of tools opt out, to own their files");
    }
    engine.unenforced().into_iter().fold(health, Health::note)
}

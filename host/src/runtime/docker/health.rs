//! What `doctor` and `check` say of the engine: found out by asking it.
//!
//! Invariant: nothing is made, started or pulled, and each question has its deadline.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::timeout;

use super::connect::Connection;
use super::faults::{DOCKER, look_after, unavailable};
use super::settings::Settings;
use super::{connect, image};
use crate::config::{Config, Environment, Setting};
use crate::runtime::{Health, Result};

/// How long an engine may take to say whether it has an image.
const TELLING: Duration = Duration::from_secs(5);

/// An engine that answers, and what it said of images.
pub(crate) struct Reached {
    connection: Connection,
    auto_pull: Setting<bool>,
    told: HashMap<String, Result<()>>,
    /// Whether it was waited for in vain.
    is_silent: bool,
}

impl Reached {
    /// Asks whether an engine answers that can do what is written.
    pub async fn reach(config: &Config, environment: &Environment) -> Result<Self> {
        let connection = connect::connect(config, environment).await?;
        let settings = Settings::of_runtime(config, environment);
        connection.engine.refuse_unenforced(&settings)?;
        Ok(Self {
            connection,
            auto_pull: config.runtime.docker.auto_pull.clone(),
            told: HashMap::new(),
            is_silent: false,
        })
    }

    /// Whether a container of this image could be made: it is there, or is pulled when it is
    /// not.
    pub async fn has(&mut self, image: &str) -> Result<()> {
        if self.auto_pull.value {
            return Ok(());
        }
        if let Some(told) = self.told.get(image) {
            return told.clone();
        }
        let told = self.ask(image).await;
        self.told.insert(image.to_owned(), told.clone());
        told
    }

    async fn ask(&mut self, image: &str) -> Result<()> {
        let silent = || {
            unavailable(
                format!(
                    "the engine does not tell of its images: nothing was heard for {} s",
                    TELLING.as_secs()
                ),
                look_after(self.connection.engine.kind),
            )
        };
        if self.is_silent {
            return Err(silent());
        }
        let Ok(looked) = timeout(TELLING, image::look(&self.connection, image)).await else {
            self.is_silent = true;
            return Err(silent());
        };
        let missing = || image::not_pulled(self.connection.engine.kind, image, &self.auto_pull);
        looked?.map(drop).ok_or_else(missing)
    }
}

/// Whether containers can be had, from which engine and with what; else why not.
pub async fn health(config: &Config, environment: &Environment) -> Health {
    let connection = match connect::connect(config, environment).await {
        Ok(connection) => connection,
        Err(error) => return Health::bad(DOCKER, &error),
    };
    let engine = &connection.engine;
    let settings = Settings::of_runtime(config, environment);
    if let Err(error) = engine.refuse_unenforced(&settings) {
        return Health::bad(DOCKER, &error);
    }
    let mut health = Health::good(DOCKER, format!("{}, API {}", engine.version, engine.api))
        .note(format!("answers at `{}`", connection.address));
    if let Some(version) = &engine.cgroups {
        health = health.note(format!("control groups v{version}"));
    }
    if let Some(driver) = &engine.storage {
        health = health.note(format!("keeps images with {driver}"));
    }
    if engine.rootless {
        health = health.note(
            "rootless: its root is an ordinary user of this machine, and `network = \"host\"` \
             is the engine's own network",
        );
    }
    if engine.remaps_users {
        health = health.note("remaps users; containers of tools opt out, to own their files");
    }
    engine.shortcomings().into_iter().fold(health, Health::note)
}

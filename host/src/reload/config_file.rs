//! The configuration file as it was last seen.
//!
//! Invariant: a file that is away, half-written, empty or faulty leaves the configuration
//! in force as it is, and says so.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::config::{self, Config, Environment};
use crate::file_state::{self, WRITING};
use crate::model::Shown as _;
use crate::registry::{Broken, Serving, Started};

/// The file that a configuration is read from.
pub(crate) struct ConfigFile {
    /// `None`: there is no file to follow.
    path: Option<PathBuf>,
    /// Whether it was there at some time: what never was is not missed.
    was_there: bool,
    /// Of the text that was read last, good or not.
    digest: Option<[u8; 32]>,
    fault: Option<String>,
    missing_since: Option<Instant>,
    /// Since when the configuration in force is.
    in_force: Started,
}

/// What a look at the file brought.
#[derive(Default)]
pub(crate) struct Look {
    /// Another configuration.
    pub config: Option<Arc<Config>>,
    /// How soon to look again, where no event will tell.
    pub again: Option<Duration>,
}

/// Why the file is no configuration.
enum Unusable {
    Missing,
    /// A pipe, which gave its text to whoever read it first.
    NoFile,
    BeingWritten,
    Fault(String),
}

impl ConfigFile {
    /// The file of a configuration that was read; else `standard`, where one may appear.
    pub fn new(config: &Config, standard: Option<PathBuf>, in_force: Started) -> Self {
        let path = config.file.clone().or(standard);
        Self {
            // A pipe is gone once it was read.
            was_there: path.as_ref().is_some_and(|path| path.is_file()),
            path,
            digest: config.digest,
            fault: None,
            missing_since: None,
            in_force,
        }
    }

    /// Where it is.
    pub fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// Looks at the file. One that is away is not missed for `patience`.
    pub fn look(&mut self, environment: &Environment, patience: Duration) -> Look {
        let Some(path) = self.path.clone() else {
            return Look::default();
        };
        let text = match read(&path) {
            Ok(text) => text,
            Err(Unusable::Missing) => return self.miss(patience),
            Err(Unusable::BeingWritten) => {
                return Look {
                    again: Some(WRITING),
                    ..Look::default()
                };
            }
            Err(Unusable::NoFile) if !self.was_there => return Look::default(),
            Err(Unusable::NoFile) => return self.refuse("it is no regular file".into()),
            Err(Unusable::Fault(why)) => return self.refuse(why),
        };
        self.was_there = true;
        self.missing_since = None;
        let digest = Some(Sha256::digest(&text).into());
        if digest == self.digest {
            return Look::default();
        }
        let is_first = self.digest.is_none() && self.fault.is_none();
        self.digest = digest;
        if text.is_empty() && !is_first {
            // What a full disk leaves of a file, and an empty text would be all defaults.
            self.fault = Some("the file is empty".into());
            return Look::default();
        }
        match Config::from_bytes(&text, &path, environment) {
            Ok(loaded) => {
                for warning in &loaded.warnings {
                    tracing::warn!("{warning}");
                }
                self.fault = None;
                Look {
                    config: Some(Arc::new(loaded.config)),
                    again: None,
                }
            }
            Err(faults) => {
                self.fault = Some(faults.to_string().trim_end().to_owned());
                Look::default()
            }
        }
    }

    /// The file can not be read: when it can, its text is looked at again.
    fn refuse(&mut self, why: String) -> Look {
        self.digest = None;
        self.fault = Some(why);
        Look::default()
    }

    /// The file is not there.
    fn miss(&mut self, patience: Duration) -> Look {
        if !self.was_there {
            return Look::default();
        }
        let since = *self.missing_since.get_or_insert_with(Instant::now);
        let rest = patience.saturating_sub(since.elapsed());
        if rest.is_zero() {
            return self.refuse("the file is gone".into());
        }
        Look {
            again: Some(rest),
            ..Look::default()
        }
    }

    /// Another configuration is in force now.
    pub fn took_effect(&mut self, in_force: Started) {
        self.in_force = in_force;
    }

    /// What is wrong with the file as it is now.
    pub fn broken(&self) -> Option<Broken> {
        let fault = self.fault.as_ref()?;
        Some(Broken {
            name: Broken::CONFIGURATION.into(),
            module: None,
            backend: "",
            place: self.path.as_ref().map(|path| path.shown().to_string()),
            reason: fault.clone(),
            help: Some(
                "correct the file; until then the last good configuration is in force".into(),
            ),
            serving: Some(Serving {
                version: None,
                since: self.in_force,
            }),
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Unusable> {
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unusable::Missing,
        _ => Unusable::Fault(format!("the file can not be read: {error}")),
    };
    let file = file_state::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Unusable::NoFile);
    }
    let read = |file: &File| config::read(file).map_err(unreadable);
    let read = file_state::undisturbed(&file, unreadable, read)?;
    read.map(|(text, _)| text).ok_or(Unusable::BeingWritten)
}

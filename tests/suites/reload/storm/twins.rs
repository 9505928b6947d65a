//! A file and a folder that claim one name: `twin.wasm` and `twin/skill.wasm`.

use std::fs;
use std::time::Instant;

use anyhow::Result;

use super::contents::spoiled;
use super::scene::{Scene, TWIN};
use super::writers::{self, Way};

/// What is in the folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InFolder {
    /// There is no folder.
    Nothing,
    /// What can not serve, or perhaps can.
    Spoiled,
    /// A module of this version.
    Version(u32),
}

/// Which of the two are there and can serve.
pub(super) struct Twins {
    /// What is in the folder, which comes first.
    folder: InFolder,
    /// The version of the file; `None`: it is not there.
    file: Option<u32>,
}

impl Twins {
    /// The file only.
    pub fn new(version: u32) -> Self {
        Self {
            folder: InFolder::Nothing,
            file: Some(version),
        }
    }
}

const FOLDER: &str = "modules/twin";
const IN_FOLDER: &str = "modules/twin/skill.wasm";
const FILE: &str = "modules/twin.wasm";

impl Scene {
    /// Does something to one of them.
    pub async fn twins(&mut self) -> Result<()> {
        let (way, version) = (self.random.one_of(&Way::ALL), self.version());
        let bytes = self.versions.module(version);
        let started = Instant::now();
        match self.random.below(6) {
            0 => {
                self.note(&format!("{FILE} by {way:?}: {version}"));
                let path = self.stage.path(FILE);
                let away = writers::put(way, &path, &bytes, &mut self.random).await?;
                self.was_away(&[TWIN], started, away);
                self.twins.file = Some(version);
            }
            1 => {
                self.note(&format!("{IN_FOLDER} by {way:?}: {version}"));
                self.stage.folder(FOLDER)?;
                let path = self.stage.path(IN_FOLDER);
                let away = writers::put(way, &path, &bytes, &mut self.random).await?;
                self.was_away(&[TWIN], started, away);
                self.twins.folder = InFolder::Version(version);
            }
            2 => {
                let (what, bytes) = spoiled(&bytes, &mut self.random)?;
                self.note(&format!("{IN_FOLDER}: {what}"));
                if self.twins.file.is_none() {
                    // Nobody may have looked since there was a good one.
                    self.witness.may_be_missed(TWIN, started);
                }
                self.stage.folder(FOLDER)?;
                super::super::replace(&self.stage.path(IN_FOLDER), &bytes)?;
                self.twins.folder = InFolder::Spoiled;
            }
            3 => {
                let Some(version) = self.twins.file.take() else {
                    return Ok(());
                };
                self.note(&format!("{FILE} becomes {IN_FOLDER}"));
                self.stage.folder(FOLDER)?;
                fs::rename(self.stage.path(FILE), self.stage.path(IN_FOLDER))?;
                self.twins.folder = InFolder::Version(version);
            }
            4 => {
                self.note(&format!("{FOLDER} goes"));
                if self.twins.file.is_none() {
                    self.witness.may_be_missed(TWIN, started);
                }
                if self.twins.folder != InFolder::Nothing {
                    fs::remove_dir_all(self.stage.path(FOLDER))?;
                    self.twins.folder = InFolder::Nothing;
                }
            }
            _ => {
                self.note(&format!("{FILE} goes"));
                if !matches!(self.twins.folder, InFolder::Version(_)) {
                    self.witness.may_be_missed(TWIN, started);
                }
                writers::remove(&self.stage.path(FILE))?;
                self.twins.file = None;
            }
        }
        let first = match self.twins.folder {
            InFolder::Nothing => self.twins.file,
            InFolder::Spoiled => None,
            InFolder::Version(version) => Some(version),
        };
        match first {
            Some(version) if self.random.once_in(2) => self.served(TWIN, version).await,
            _ => Ok(()),
        }
    }
}

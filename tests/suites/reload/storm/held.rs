//! A file that somebody holds open, half written, while other things go on.

use std::fs::File;
use std::io::Write as _;

use anyhow::Result;

use super::scene::{Scene, Target};

/// The file, and what it still lacks.
pub(super) struct Held {
    pub target: Target,
    file: File,
    rest: Vec<u8>,
    version: u32,
}

impl Scene {
    /// Begins to write a file, and leaves it there.
    pub fn hold(&mut self) -> Result<()> {
        if self.held.is_some() {
            return Ok(());
        }
        let (target, version) = (self.target(), self.version());
        let bytes = self.versions.module(version);
        let written = self.random.below(bytes.len());
        self.note(&format!("{} is half written: {written} bytes", target.file));
        let mut file = File::create(self.stage.path(target.file))?;
        file.write_all(&bytes[..written])?;
        self.held = Some(Held {
            target,
            file,
            rest: bytes[written..].to_vec(),
            version,
        });
        Ok(())
    }

    /// Writes the rest.
    pub async fn finish_held(&mut self) -> Result<()> {
        let Some(mut held) = self.held.take() else {
            return Ok(());
        };
        self.note(&format!(
            "{} is complete: {}",
            held.target.file, held.version
        ));
        held.file.write_all(&held.rest)?;
        drop(held.file);
        self.served(held.target.tool, held.version).await
    }
}

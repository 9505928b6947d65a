//! Modules that are the same but for the version that they tell.

use anyhow::{Result, ensure};

use crate::guest;

/// What the guest `versions` has in its data.
const MARK: &[u8] = b"version-00000000";

/// Makes modules of any version. Each has the tools `tell` and `wait`.
#[derive(Clone)]
pub struct Versions {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Versions {
    /// Reads the guest.
    pub fn new() -> Result<Self> {
        let bytes = std::fs::read(guest("versions")?)?;
        let windows = bytes.windows(MARK.len()).enumerate();
        let places: Vec<usize> = windows
            .filter(|(_, window)| *window == MARK)
            .map(|(place, _)| place)
            .collect();
        ensure!(!places.is_empty(), "the guest has no version");
        Ok(Self { bytes, places })
    }

    /// The module of a version.
    pub fn module(&self, version: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for place in &self.places {
            bytes[*place..*place + MARK.len()].copy_from_slice(Self::text(version).as_bytes());
        }
        bytes
    }

    /// What that module says of itself.
    pub fn text(version: u32) -> String {
        format!("version-{version:08}")
    }
}

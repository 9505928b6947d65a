//! The secret of a cache: 32 random bytes that key its MACs. Invariant: all processes on
//! one folder use the same secret, whoever made it.

use std::io::Read;

use super::folder::{Found, PrivateFolder};
use super::temporary::Temporary;

const NAME: &str = "secret";
type Secret = [u8; 32];

/// Reads the secret, making it if there is none. One that is damaged, or that others may
/// have read or written, is replaced: all entries become misses. The text of an error
/// says why there is none.
pub(super) fn read_or_create(folder: &PrivateFolder) -> Result<Secret, String> {
    // Each round either reads it or moves on from one cause why that failed; another
    // process can interfere once or twice, but not for ever.
    for _ in 0..8 {
        match folder.find(NAME) {
            Ok(Found::Nothing) => create(folder)?,
            Ok(Found::File(file)) => match read(file) {
                Ok(Some(secret)) => return Ok(secret),
                Ok(None) => discard(folder, "it is damaged")?,
                Err(error) => return Err(format!("its secret can not be read ({error})")),
            },
            Ok(Found::Intruder(reason)) => discard(folder, &reason)?,
            Err(error) => return Err(format!("its secret can not be opened ({error})")),
        }
    }
    Err("its secret is replaced again and again by others".to_owned())
}

fn read(file: impl Read) -> std::io::Result<Option<Secret>> {
    let mut content = Vec::with_capacity(33);
    file.take(33).read_to_end(&mut content)?;
    // Zeros are what a file system leaves when it lost a file's content.
    Ok(Secret::try_from(content)
        .ok()
        .filter(|secret| *secret != [0; 32]))
}

/// Writes it whole under a temporary name, then links it: who is second finds the name
/// taken, and nobody ever reads half a secret. It is synced, unlike all other files,
/// since losing it would lose every entry.
fn create(folder: &PrivateFolder) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("its secret can not be written ({error})");
    let mut secret = Secret::default();
    getrandom::fill(&mut secret).map_err(|error| cannot(error.into()))?;
    let temporary = Temporary::write(folder, &secret).map_err(cannot)?;
    temporary.sync().map_err(cannot)?;
    temporary.link_new(NAME).map_err(cannot)?;
    Ok(())
}

fn discard(folder: &PrivateFolder, reason: &str) -> Result<(), String> {
    tracing::warn!("the secret of the compile cache is replaced: {reason}");
    let removed = folder.remove(NAME);
    removed
        .map(drop)
        .map_err(|error| format!("its secret can not be replaced ({reason}; {error})"))
}

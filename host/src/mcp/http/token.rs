//! The token of a server, and who else could read what nobody may.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::config::{Environment, Provided};
use crate::mcp::ServeError;
use crate::registry;

/// Shorter tokens can be guessed.
const SHORTEST_TOKEN: usize = 16;
/// What others may do with a file.
const OTHERS: u32 = 0o077;

/// The token that stands in a variable or a file. `named_by` is what says so: a flag or a
/// key. A file that others can read is warned of in the log.
///
/// # Errors
///
/// There is no token that could be used; it is not part of the error.
pub fn read_token(
    from: &Provided<String>,
    named_by: &str,
    environment: &Environment,
) -> Result<String, ServeError> {
    let unusable = |why: String| ServeError::Token {
        from: format!("`{named_by}`"),
        why,
    };
    let text = registry::text_of(from, environment).map_err(|why| unusable(format!("it {why}")))?;
    let token = text.trim();
    if token.len() < SHORTEST_TOKEN || token.contains(char::is_whitespace) {
        return Err(unusable(format!(
            "it needs at least {SHORTEST_TOKEN} characters without spaces"
        )));
    }
    if let Provided::File(file) = from {
        warn_of_readers("token", file);
    }
    Ok(token.to_owned())
}

/// Says that a secret is none.
pub(super) fn warn_of_readers(what: &str, file: &Path) {
    let mode = std::fs::metadata(file).map(|found| found.permissions().mode());
    if mode.is_ok_and(|mode| mode & OTHERS != 0) {
        let file = file.display();
        tracing::warn!("other users may read the {what} in `{file}`: run `chmod 600 {file}`");
    }
}

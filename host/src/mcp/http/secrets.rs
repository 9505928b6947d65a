//! What a server keeps from others: its token, and its private key.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use axum_server::tls_rustls::RustlsConfig;

use super::TlsFiles;
use crate::config::{Environment, Provided};
use crate::file_state;
use crate::mcp::{ServeError, TlsPart};
use crate::registry;

/// Shorter tokens can be guessed.
const SHORTEST_TOKEN: usize = 16;
/// Bytes of a file for TLS.
const MAX_FILE_BYTES: u64 = 1 << 20;
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
fn warn_of_readers(what: &str, file: &Path) {
    let mode = std::fs::metadata(file).map(|found| found.permissions().mode());
    if mode.is_ok_and(|mode| mode & OTHERS != 0) {
        let file = file.display();
        tracing::warn!("other users may read the {what} in `{file}`: run `chmod 600 {file}`");
    }
}

/// Certificate and key.
///
/// # Errors
///
/// The first of the two that is none, and why.
pub(super) async fn tls(files: &TlsFiles) -> Result<RustlsConfig, ServeError> {
    let certificate = read(TlsPart::Certificate, &files.certificate, "CERTIFICATE-----")?;
    let key = read(TlsPart::Key, &files.key, "PRIVATE KEY-----")?;
    warn_of_readers("private key", &files.key);
    let made = RustlsConfig::from_pem(certificate.clone(), key.clone()).await;
    made.map_err(|error| ServeError::Tls {
        part: TlsPart::Key,
        file: files.key.clone(),
        why: format!(
            "it does not go with the certificate `{}`: {error}",
            files.certificate.display()
        ),
    })
}

fn read(part: TlsPart, file: &Path, mark: &str) -> Result<Vec<u8>, ServeError> {
    let unusable = |why: String| ServeError::Tls {
        part,
        file: file.to_owned(),
        why,
    };
    let unreadable = |error: std::io::Error| unusable(error.to_string());
    let opened = file_state::open(file).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_file() {
        return Err(unusable("it is no regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_FILE_BYTES)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if !String::from_utf8_lossy(&bytes).contains(mark) {
        return Err(unusable(format!("there is no {part} in PEM form in it")));
    }
    Ok(bytes)
}

//! Certificate and key, from files in PEM form.
//!
//! Invariant: what is wrong with a file is said with its name, before anything listens.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;

use super::TlsFiles;
use super::token::warn_of_readers;
use crate::file_state;
use crate::mcp::{ServeError, TlsPart};

/// What clients may speak inside: each stream of a client is a connection of its own, so
/// that one that is not read is seen.
const PROTOCOL: &[u8] = b"http/1.1";
/// Bytes of one file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Loads what TLS needs.
///
/// # Errors
///
/// The first of the two files that is none, and why.
pub(super) async fn load(files: &TlsFiles) -> Result<RustlsConfig, ServeError> {
    let certificate = read(TlsPart::Certificate, &files.certificate)?;
    let key = read(TlsPart::Key, &files.key)?;
    if !has(&certificate, "CERTIFICATE") {
        let why = "it holds no certificate in PEM form";
        return Err(unusable(TlsPart::Certificate, &files.certificate, why));
    }
    if has(&key, "ENCRYPTED PRIVATE KEY") {
        let why = "its private key is encrypted";
        return Err(unusable(TlsPart::Key, &files.key, why));
    }
    let kinds = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];
    if !kinds.iter().any(|kind| has(&key, kind)) {
        let why = "it holds no private key in PEM form";
        return Err(unusable(TlsPart::Key, &files.key, why));
    }
    warn_of_readers("private key", &files.key);
    let tls = RustlsConfig::from_pem(certificate, key).await;
    let tls = tls.map_err(|error| {
        let certificate = files.certificate.display();
        let why = format!("it does not go with the certificate `{certificate}`: {error}");
        unusable(TlsPart::Key, &files.key, why)
    })?;
    let mut config = (*tls.get_inner()).clone();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    tls.reload_from_config(Arc::new(config));
    Ok(tls)
}

fn read(part: TlsPart, file: &Path) -> Result<Vec<u8>, ServeError> {
    let unreadable = |error: std::io::Error| unusable(part, file, error.to_string());
    let opened = file_state::open(file).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_file() {
        return Err(unusable(part, file, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    let mut opened = opened.take(MAX_FILE_BYTES);
    opened.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// Whether a file has a part of that kind.
fn has(pem: &[u8], kind: &str) -> bool {
    String::from_utf8_lossy(pem).contains(&format!("-----BEGIN {kind}-----"))
}

fn unusable(part: TlsPart, file: &Path, why: impl Into<String>) -> ServeError {
    ServeError::Tls {
        part,
        file: file.to_owned(),
        why: why.into(),
    }
}

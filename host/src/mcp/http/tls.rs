//! Certificate and key, from files in PEM form.
//!
//! Invariant: what is wrong with a file is said with its name, before anything listens.

use std::path::Path;
use std::sync::Arc;

use axum_server::tls_rustls::RustlsConfig;

use super::TlsFiles;
use crate::mcp::ServeError;

/// What clients may speak inside: each stream of a client is a connection of its own, so
/// that one that is not read is seen.
const PROTOCOL: &[u8] = b"http/1.1";

/// Loads what TLS needs.
pub(super) async fn load(files: &TlsFiles) -> Result<RustlsConfig, ServeError> {
    let certificate = read(&files.certificate).await?;
    let key = read(&files.key).await?;
    if !has(&certificate, "CERTIFICATE") {
        return Err(unusable(&files.certificate, "it holds no certificate"));
    }
    if has(&key, "ENCRYPTED PRIVATE KEY") {
        return Err(unusable(&files.key, "its private key is encrypted"));
    }
    if !["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]
        .map(|kind| has(&key, kind))
        .contains(&true)
    {
        return Err(unusable(&files.key, "it holds no private key"));
    }
    let tls = RustlsConfig::from_pem(certificate, key).await;
    let tls = tls.map_err(|error| {
        let certificate = files.certificate.display();
        unusable(
            &files.key,
            format!("with the certificate of `{certificate}`: {error}"),
        )
    })?;
    let mut config = (*tls.get_inner()).clone();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    tls.reload_from_config(Arc::new(config));
    Ok(tls)
}

async fn read(file: &Path) -> Result<Vec<u8>, ServeError> {
    tokio::fs::read(file)
        .await
        .map_err(|error| unusable(file, error))
}

/// Whether a file has a part of that kind.
fn has(pem: &[u8], kind: &str) -> bool {
    String::from_utf8_lossy(pem).contains(&format!("-----BEGIN {kind}-----"))
}

fn unusable(file: &Path, why: impl std::fmt::Display) -> ServeError {
    ServeError::Tls {
        file: file.to_owned(),
        why: why.to_string(),
    }
}

//! The server behind TLS, with a certificate that is made for the test.

use std::fs::{self, Permissions};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use prx_tests::Stage;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;

use crate::client::server;
use prx_tests::served::{Answer, Served, TOKEN};

/// Clients that trust a certificate, and no other.
fn trusting(certificate: &CertificateDer<'static>) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn certified() -> Result<CertifiedKey<KeyPair>> {
    Ok(generate_simple_self_signed(["localhost".to_owned()])?)
}

/// A stage with a certificate and its key in files.
fn stage(made: &CertifiedKey<KeyPair>) -> Result<Stage> {
    let stage = Stage::new()?;
    fs::write(stage.path("cert.pem"), made.cert.pem())?;
    let key = stage.path("key.pem");
    fs::write(&key, made.signing_key.serialize_pem())?;
    fs::set_permissions(key, Permissions::from_mode(0o600))?;
    Ok(stage)
}

const FILES: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

#[test]
fn both_eras_are_served_over_tls() -> Result<()> {
    let made = certified()?;
    let stage = stage(&made)?;
    let served = Served::start(&stage, &FILES)?;
    let mut served = served.over_tls(trusting(made.cert.der())?).ready()?;
    served.assert_healthy()?;
    let session = served.session()?;
    let _stream = session.listen(&served)?;
    assert_eq!(served.end()?, Some(0));
    Ok(())
}

#[test]
fn over_tls_names_pages_and_tokens_are_checked_as_without() -> Result<()> {
    let made = certified()?;
    let stage = stage(&made)?;
    let mut arguments = FILES.to_vec();
    arguments.extend([
        "--token-env",
        "TOKEN",
        "--allow-origin",
        "https://app.example.com:443",
    ]);
    let served = Served::start(&stage, &arguments)?.over_tls(trusting(made.cert.der())?);
    let right = format!("Bearer {TOKEN}");
    let longer = format!("Bearer {TOKEN}0");
    let wrong = right.replace('f', "e");
    for (token, status) in [
        (None, 401),
        (Some("Bearer short"), 401),
        (Some(longer.as_str()), 401),
        (Some(wrong.as_str()), 401),
        (Some(right.as_str()), 200),
    ] {
        let headers: Vec<_> = token
            .iter()
            .map(|token| ("Authorization", *token))
            .collect();
        let answer = served.request("tools/list", json!({}), &headers)?;
        assert_eq!(answer.status, status, "{token:?}");
    }
    for (header, status) in [
        (("Host", "evil.example.com"), 403),
        (("Host", "localhost"), 200),
        (("Origin", "https://evil.example.com"), 403),
        (("Origin", "https://app.example.com"), 200),
    ] {
        let headers = [("Authorization", right.as_str()), header];
        let answer = served.request("tools/list", json!({}), &headers)?;
        assert_eq!(answer.status, status, "{header:?}");
    }
    Ok(())
}

#[test]
fn who_speaks_no_tls_is_told_so_and_others_are_served() -> Result<()> {
    let made = certified()?;
    let stage = stage(&made)?;
    let served = Served::start(&stage, &FILES)?;
    let served = served.over_tls(trusting(made.cert.der())?).ready()?;
    let mut plain = TcpStream::connect(served.address)?;
    std::io::Write::write_all(
        &mut plain,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    )?;
    let answer = Answer::read(&mut plain)?;
    assert_eq!(answer.status, 400, "{answer:?}");
    ensure!(answer.body.contains("https://"), "{answer:?}");
    // Some say nothing, and some say what is no greeting.
    let _silent = TcpStream::connect(served.address)?;
    let mut garbage = TcpStream::connect(served.address)?;
    std::io::Write::write_all(&mut garbage, &[0x16; 5_000])?;
    served.assert_healthy()?;
    // A client that does not trust the certificate gets nowhere.
    let other = certified()?;
    let stranger = served.over_tls(trusting(other.cert.der())?);
    ensure!(stranger.send("GET", "/healthz", &[], "").is_err());
    Ok(())
}

#[test]
fn files_that_are_of_no_use_are_named() -> Result<()> {
    let made = certified()?;
    let stage = stage(&made)?;
    fs::write(
        stage.path("other.pem"),
        certified()?.signing_key.serialize_pem(),
    )?;
    fs::write(stage.path("empty.pem"), "")?;
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    fs::write(stage.path("encrypted.pem"), encrypted)?;
    let broken = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    fs::write(stage.path("broken.pem"), broken)?;
    for (certificate, key, named) in [
        ("missing.pem", "key.pem", "missing.pem"),
        ("cert.pem", "missing.pem", "missing.pem"),
        ("empty.pem", "key.pem", "empty.pem"),
        ("key.pem", "key.pem", "key.pem"),
        ("cert.pem", "cert.pem", "cert.pem"),
        ("cert.pem", "other.pem", "other.pem"),
        ("cert.pem", "encrypted.pem", "encrypted.pem"),
        ("broken.pem", "key.pem", "broken.pem"),
    ] {
        let files = [
            "--http",
            "127.0.0.1:0",
            "--tls-cert",
            certificate,
            "--tls-key",
            key,
        ];
        let output = server(&stage, &files)?.stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let shown = || format!("{certificate} with {key}: {said}");
        assert_eq!(output.status.code(), Some(2), "{}", shown());
        ensure!(said.contains(named), "{}", shown());
        ensure!(!said.contains("listening"), "{}", shown());
        said.lines()
            .find(|line| line.contains("help:"))
            .with_context(shown)?;
    }
    Ok(())
}

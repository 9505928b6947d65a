//! `[serve]` and `[serve.http]`: how a server of this host is reached, and how much it
//! offers at a time. What it offers besides tools is read by `offers`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use globset::Glob;

use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::web::{check_host, check_origin};
use crate::config::{Provided, Serve, ServeHttp, Setting};

use super::offers;

/// Reads `[serve]`. Everything in it is ours.
pub(super) fn read(table: &Table<'_>) -> Serve {
    Serve {
        tools: table.setting("tools", vec!["*".to_owned()], globs),
        deny: table.setting("deny", Vec::new(), globs),
        read_only: table.setting("read_only", false, Entry::boolean),
        page_size: table.setting("page_size", 1_000, |entry| {
            entry.whole(&(1..=100_000), "entries")
        }),
        max_result_chars: table.setting("max_result_chars", 50_000, |entry| {
            entry.whole(&(100..=10_000_000), "characters")
        }),
        max_calls: table.setting("max_calls", 256, |entry| {
            entry.whole(&(1..=65_536), "calls")
        }),
        instructions: table.optional("instructions", Entry::filled_text),
        http: http(&table.table("http")),
        resources: offers::resources(&table.table("resources")),
        prompts: offers::prompts(&table.table("prompts")),
    }
}

/// Patterns of names or paths.
pub(super) fn globs(entry: &Entry<'_>) -> Option<Vec<String>> {
    entry.list("strings", |item| {
        let text = item.filled_text()?;
        if let Err(error) = Glob::new(&text) {
            item.report(
                Fault::error(format!("`{text}` is no glob"))
                    .because(error.kind().to_string())
                    .help("`*` stands for any letters, `?` for one; for instance `\"notes_*\"`"),
            );
            return None;
        }
        Some(text)
    })
}

fn http(table: &Table<'_>) -> ServeHttp {
    let usual = SocketAddr::from(([127, 0, 0, 1], 8808));
    let (tls_cert, tls_key) = tls(table);
    ServeHttp {
        listen: table.setting("listen", usual, listen),
        token: table.optional("token", token),
        tls_cert,
        tls_key,
        allowed_hosts: table.setting("allowed_hosts", Vec::new(), |entry| {
            let help = "write a name alone, for instance `\"tools.example.com\"`";
            names(entry, "host", check_host, help)
        }),
        allowed_origins: table.setting("allowed_origins", Vec::new(), |entry| {
            let help = "write scheme and host, for instance `\"https://app.example.com:443\"`";
            names(entry, "origin", check_origin, help)
        }),
        max_body_bytes: table.setting("max_body_bytes", 4 << 20, |entry| {
            entry.whole(&(1024..=1 << 30), "bytes")
        }),
        max_sessions: table.setting("max_sessions", 256, |entry| {
            entry.whole(&(1..=65_536), "sessions")
        }),
        last_calls: table.setting("last_calls_secs", Duration::from_secs(10), Entry::seconds),
    }
}

fn listen(entry: &Entry<'_>) -> Option<SocketAddr> {
    let text = entry.text()?;
    let address = text.parse().ok();
    if address.is_none() {
        entry.report(
            Fault::error(format!("`{}` is no address to listen on", entry.key))
                .because(format!(
                    "`{}` is no IP address with a port",
                    text.escape_debug()
                ))
                .help("write for instance `\"127.0.0.1:8808\"`, or `\"[::1]:8808\"`"),
        );
    }
    address
}

/// Where the token is; never the token itself.
fn token(entry: &Entry<'_>) -> Option<Provided<String>> {
    entry.provided(|entry| {
        entry.report(
            Fault::error(format!("`{}` does not say where the token is", entry.key))
                .because("a secret does not belong in this file, which is shown, copied and kept")
                .help("write `token = { file = \"token\" }`, or `token = { env = \"PRX_TOKEN\" }`"),
        );
        None
    })
}

/// Certificate and key, which are nothing without each other.
fn tls(table: &Table<'_>) -> (Option<Setting<PathBuf>>, Option<Setting<PathBuf>>) {
    let written = [table.entry("tls_cert"), table.entry("tls_key")];
    if let [Some(alone), None] | [None, Some(alone)] = &written
        && table.document.complete
    {
        let missing = if alone.name == "tls_cert" {
            "tls_key"
        } else {
            "tls_cert"
        };
        alone.report(
            Fault::error(format!("`{}` is there without `{missing}`", alone.key))
                .because("TLS needs a certificate and its private key")
                .help(format!("add `{missing}`, the path of a file in PEM form")),
        );
    }
    (
        table.optional("tls_cert", Entry::path),
        table.optional("tls_key", Entry::path),
    )
}

fn names(
    entry: &Entry<'_>,
    what: &str,
    check: fn(&str) -> Result<(), &'static str>,
    help: &str,
) -> Option<Vec<String>> {
    entry.list("strings", |item| {
        let text = item.text()?;
        match check(text) {
            Ok(()) => Some(text.to_owned()),
            Err(why) => {
                let text = text.escape_debug();
                let fault = Fault::error(format!("`{text}` is no {what}"));
                item.report(fault.because(why).help(help));
                None
            }
        }
    })
}

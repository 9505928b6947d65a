//! Who is let in: by the name under which the server was reached, and by a token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::HttpOptions;

/// The rules for one server.
pub(super) struct Guard {
    hosts: Vec<String>,
    /// SHA-256 of the token: what is compared has the same length, whatever was sent.
    token: Option<[u8; 32]>,
}

impl Guard {
    pub fn new(http: &HttpOptions, address: SocketAddr) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        hosts.extend(http.hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            hosts,
            token: http
                .token
                .as_ref()
                .map(|token| Sha256::digest(token).into()),
        }
    }

    /// The names under which the server may be reached.
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.clone()
    }

    /// Pages that this very server could have served are nobody else's.
    pub fn own_origins(&self, is_tls: bool, port: u16) -> Vec<String> {
        let scheme = if is_tls { "https" } else { "http" };
        let own = self.hosts.iter().map(|host| match host.parse() {
            Ok(IpAddr::V6(address)) => format!("{scheme}://[{address}]:{port}"),
            _ => format!("{scheme}://{host}:{port}"),
        });
        own.collect()
    }

    /// Whether a request came under a name of this server: a page whose name was made to
    /// lead here brings its own.
    fn knows(&self, request: &Request) -> bool {
        let named = request
            .headers()
            .get(HOST)
            .and_then(|host| host.to_str().ok());
        let authority = match named {
            Some(host) => host.parse::<Authority>().ok(),
            // HTTP/2 has it in the address.
            None => request.uri().authority().cloned(),
        };
        authority.is_some_and(|authority| {
            let host = authority
                .host()
                .trim_matches(['[', ']'])
                .to_ascii_lowercase();
            let host = host.trim_end_matches('.');
            self.hosts
                .iter()
                .any(|known| known == host || is_same_address(known, host))
        })
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = &self.token else {
            return true;
        };
        let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let scheme = b"bearer ";
        let token = sent.and_then(|sent| {
            let (named, token) = sent.split_at_checked(scheme.len())?;
            named.eq_ignore_ascii_case(scheme).then_some(token)
        });
        let digest: [u8; 32] = Sha256::digest(token.unwrap_or_default()).into();
        bool::from(digest.ct_eq(expected)) && token.is_some()
    }
}

fn is_same_address(one: &str, two: &str) -> bool {
    match (one.parse::<IpAddr>(), two.parse::<IpAddr>()) {
        (Ok(one), Ok(two)) => one == two,
        _ => false,
    }
}

/// Lets a request in, or says why not.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    if !guard.knows(&request) {
        let text = "this is not a name of this server; allow it with `--allow-host` or `serve.http.allowed_hosts`\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    // Whether it lives is no secret, and those who ask have no token.
    if request.uri().path() != "/healthz" && !guard.admits(request.headers()) {
        let asked = [(WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, asked, "a token is needed\n").into_response();
    }
    next.run(request).await
}

//! Who is let in, on every path: by the name under which the server was reached, by the page
//! that asks, and by a token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::HttpOptions;
use crate::config::{allows_origin, with_port};

/// The rules for one server.
pub(super) struct Guard {
    hosts: Vec<String>,
    /// Pages that may ask.
    origins: Vec<String>,
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
        // Pages that this very server could have served are nobody else's.
        let scheme = if http.tls.is_some() { "https" } else { "http" };
        let own = hosts.iter().map(|host| match host.parse() {
            Ok(IpAddr::V6(ip)) => format!("{scheme}://[{ip}]:{}", address.port()),
            _ => format!("{scheme}://{host}:{}", address.port()),
        });
        let others = http.origins.iter().map(|origin| with_port(origin));
        let origins = own.chain(others).collect();
        Self {
            hosts,
            origins,
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

    /// The pages that may ask.
    pub fn origins(&self) -> Vec<String> {
        self.origins.clone()
    }

    /// Whether a request comes from a page that may ask, or from none.
    fn admits_page(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|sent| {
            let allowed = |sent| {
                let mut origins = self.origins.iter();
                origins.any(|origin| allows_origin(origin, sent))
            };
            sent.to_str().is_ok_and(allowed)
        })
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
    if !guard.admits_page(request.headers()) {
        let text = "this page may not ask; allow it with `--allow-origin` or `serve.http.allowed_origins`\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    // Whether it lives is no secret, and those who ask have no token.
    if request.uri().path() != "/healthz" && !guard.admits(request.headers()) {
        let asked = [(WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, asked, "a token is needed\n").into_response();
    }
    next.run(request).await
}

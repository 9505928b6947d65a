//! Many clients over Streamable HTTP.
//!
//! Invariants: nothing is answered to a request whose `Host` is not allowed or whose token
//! is not right. Beyond loopback there is no server without a token.

mod guard;
mod metrics;
mod secrets;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::RustlsAcceptor;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

pub use self::secrets::read_token;

use self::guard::Guard;
use super::announce::Announcer;
use super::handler::Client;
use super::{ServeError, ServeOptions, Server};
use crate::config::{Config, Environment, with_port};
use crate::host::Host;

/// Where and how clients are served over HTTP.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The address; port 0 is any that is free.
    pub listen: SocketAddr,
    /// What each request must bring as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// Certificate and key, for TLS.
    pub tls: Option<TlsFiles>,
    /// Names by which clients reach the server, besides those of loopback and its address.
    pub hosts: Vec<String>,
    /// Pages that may ask, for instance `https://app.example.com:443`; others may not.
    pub origins: Vec<String>,
    /// Bytes that one request may have.
    pub max_body_bytes: usize,
    /// Sessions at one time.
    pub max_sessions: usize,
    /// How long a client may take for its first request.
    pub first_request: Duration,
    /// How long calls may go on when the server is told to end.
    pub last_calls: Duration,
}

/// Files in PEM form.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate, with those of its issuers.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl HttpOptions {
    /// Listens on an address, with usual limits, without a token and without TLS.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            token: None,
            tls: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body_bytes: 4 << 20,
            max_sessions: 256,
            first_request: Duration::from_secs(10),
            last_calls: Duration::from_secs(10),
        }
    }

    /// What `[serve.http]` of a configuration says. Reads the token.
    ///
    /// # Errors
    ///
    /// There is no token where the configuration says.
    pub fn from_config(config: &Config, environment: &Environment) -> Result<Self, ServeError> {
        let http = &config.serve.http;
        let amount = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let token = http.token.as_ref();
        let token = token.map(|from| read_token(&from.value, &from.origin(), environment));
        let tls = http.tls_cert.as_ref().zip(http.tls_key.as_ref());
        Ok(Self {
            token: token.transpose()?,
            tls: tls.map(|(certificate, key)| TlsFiles {
                certificate: certificate.value.clone(),
                key: key.value.clone(),
            }),
            hosts: http.allowed_hosts.value.clone(),
            origins: http.allowed_origins.value.clone(),
            max_body_bytes: amount(http.max_body_bytes.value),
            max_sessions: amount(http.max_sessions.value),
            last_calls: http.last_calls.value,
            ..Self::new(http.listen.value)
        })
    }
}

/// How long answers of calls that are ended with the server may take to be read.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// How long a session lives that nobody uses: clients vanish without a word.
const IDLE_SESSION: Duration = Duration::from_mins(2);

/// The path of the protocol.
const PATH: &str = "/mcp";

/// Serves all clients that come, until `end`. `listening` is told the address.
pub async fn serve_http(
    host: &Host,
    options: ServeOptions,
    http: HttpOptions,
    listening: impl FnOnce(SocketAddr),
    end: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    if !http.listen.ip().is_loopback() && http.token.is_none() {
        return Err(ServeError::NoToken(http.listen));
    }
    let tls = match &http.tls {
        Some(files) => Some(secrets::tls(files).await?),
        None => None,
    };
    let (listener, address) =
        listen(http.listen).map_err(|error| ServeError::Listen(http.listen, error.to_string()))?;
    let server = Server::new(host.clone(), options);
    let announcer = tokio::spawn(Announcer::new(&server).announce());
    let stop = CancellationToken::new();
    let app = app(Arc::clone(&server), &http, address, stop.clone());
    let handle = Handle::new();
    let acceptor = NoDelayAcceptor::new();
    let running = async {
        let service = app.into_make_service();
        match tls {
            None => {
                let server = axum_server::from_tcp(listener)?.acceptor(acceptor);
                let server = server.first_request_timeout(http.first_request);
                server.handle(handle.clone()).serve(service).await
            }
            Some(tls) => {
                let acceptor = RustlsAcceptor::new(tls).acceptor(acceptor);
                let server = axum_server::from_tcp(listener)?.acceptor(acceptor);
                let server = server.first_request_timeout(http.first_request);
                server.handle(handle.clone()).serve(service).await
            }
        }
    };
    let mut running = std::pin::pin!(running);
    listening(address);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = end => {
            handle.graceful_shutdown(Some(http.last_calls));
            // What takes longer is ended, and has its answer still.
            let idle = async {
                let most = http.last_calls.saturating_sub(LAST_ANSWERS);
                let _ = tokio::time::timeout(most, server.idle()).await;
                server.last.cancel();
                let _ = tokio::time::timeout(LAST_ANSWERS / 2, server.idle()).await;
                tokio::time::sleep(LAST_ANSWERS / 4).await;
            };
            tokio::select! {
                ended = &mut running => ended,
                () = idle => {
                    // Streams that wait for news would wait for ever.
                    stop.cancel();
                    running.await
                }
            }
        }
    };
    announcer.abort();
    ended.map_err(|error| ServeError::Failed(error.to_string()))
}

fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

fn app(
    server: Arc<Server>,
    http: &HttpOptions,
    address: SocketAddr,
    stop: CancellationToken,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE_SESSION);
    let sessions = Arc::new(sessions);
    let guard = Arc::new(Guard::new(http, address, Arc::clone(&sessions)));
    let mut config = StreamableHttpServerConfig::default();
    config.allowed_hosts = guard.hosts();
    config.allowed_origins = guard.own_origins(http.tls.is_some(), address.port());
    let others = http.origins.iter().map(|origin| with_port(origin));
    config.allowed_origins.extend(others);
    config.max_request_body_bytes = http.max_body_bytes;
    config.cancellation_token = stop;
    let config = config.enforce_origin_validation();
    let client = Arc::clone(&server);
    let service = StreamableHttpService::new(
        move || Ok(Client::new(Arc::clone(&client))),
        sessions,
        config,
    );
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(server)
        .nest_service(PATH, service)
        .layer(from_fn_with_state(guard, guard::check))
}

/// Whether all modules are there that there are files for.
async fn ready(State(server): State<Arc<Server>>) -> (StatusCode, &'static str) {
    if server.host.snapshot().is_loading() {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "modules are being compiled\n",
        )
    } else {
        (StatusCode::OK, "ready\n")
    }
}

async fn metrics(State(server): State<Arc<Server>>) -> String {
    metrics::text(&server.host)
}

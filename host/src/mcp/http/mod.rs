//! Many clients over Streamable HTTP.
//!
//! Invariants: nothing is answered to a request whose `Host` or `Origin` is not allowed or
//! whose token is not right. Beyond loopback there is no server without a token. Whatever a client does
//! or leaves undone, it holds a bounded part of the server for a bounded time.

mod connection;
mod door;
mod guard;
mod headers;
mod held;
mod intake;
mod metrics;
mod sessions;
mod tls;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsAcceptor;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

pub use self::token::read_token;

use self::door::{Door, Entrance};
use self::guard::Guard;
use self::intake::Intake;
use self::sessions::Sessions;
use super::announce::Announcer;
use super::handler::Client;
use super::{ServeError, ServeOptions, Server};
use crate::config::{Config, Environment};
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
    /// How long a client may take for one body.
    pub body_time: Duration,
    /// Sessions at one time. The one that was idle for the longest time makes room.
    pub max_sessions: usize,
    /// How long a session lives that nobody uses and that has no open stream.
    pub idle_session: Duration,
    /// Connections at one time, as far as files may be open. One that has no request makes
    /// room. Half of them may be streams that stay open.
    pub max_connections: usize,
    /// How long a client may take for its first request, and for the handshake of TLS.
    pub first_request: Duration,
    /// How long a connection may be without a request, and how long the head of one may take.
    pub idle_connection: Duration,
    /// How long a client may take nothing of an answer that is for it.
    pub stalled: Duration,
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
            body_time: Duration::from_secs(30),
            max_sessions: 256,
            idle_session: Duration::from_mins(30),
            max_connections: 2_048,
            first_request: Duration::from_secs(10),
            idle_connection: Duration::from_mins(1),
            stalled: Duration::from_secs(30),
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
/// Bytes of the head of a request, and of an answer that waits to be written.
const BUFFER: usize = 64 << 10;

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
        Some(files) => Some(tls::load(files).await?),
        None => None,
    };
    let refused = |error: std::io::Error| ServeError::Listen(http.listen, error.to_string());
    let listener = TcpListener::bind(http.listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;

    let served = Served::new(host, options, &http, tls.is_some());
    let announcer = tokio::spawn(Announcer::new(&served.server).announce());
    let stop = CancellationToken::new();
    let app = served.app(&http, address, stop.clone());
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let handle = Handle::new();
    let entrance = Entrance(Arc::clone(&served.door));
    let running = async {
        match tls {
            None => {
                let plain = configured(listener, entrance, &http, handle.clone())?;
                plain.serve(app).await
            }
            Some(tls) => {
                let tls = RustlsAcceptor::new(tls).handshake_timeout(http.first_request);
                let tls = tls.acceptor(entrance);
                let tls = configured(listener, tls, &http, handle.clone())?;
                tls.serve(app).await
            }
        }
    };
    let running = async {
        tokio::select! {
            ended = running => ended,
            () = served.sweep(http.idle_session) => Ok(()),
        }
    };
    let mut running = std::pin::pin!(running);
    listening(address);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = end => {
            handle.graceful_shutdown(Some(http.last_calls));
            let finished = async {
                served.finish(http.last_calls).await;
                // Streams that wait for news would wait for ever, and who does not read
                // its answer, too.
                stop.cancel();
                tokio::time::sleep(LAST_ANSWERS / 2).await;
                handle.shutdown();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                ended = &mut running => ended,
                () = finished => Ok(()),
            }
        }
    };
    announcer.abort();
    ended.map_err(|error| ServeError::Failed(error.to_string()))
}

/// A server with the limits of connections.
fn configured<A>(
    listener: TcpListener,
    acceptor: A,
    http: &HttpOptions,
    handle: Handle<SocketAddr>,
) -> std::io::Result<axum_server::Server<SocketAddr, A>> {
    let server = axum_server::from_tcp(listener)?.acceptor(acceptor);
    let server = server.first_request_timeout(http.first_request);
    let mut server = server.handle(handle).http1_only();
    let mut protocol = server.http_builder().http1();
    protocol.header_read_timeout(http.idle_connection);
    protocol.max_buf_size(BUFFER);
    Ok(server)
}

/// Files that this process may have open.
fn open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let limit = limit.current.and_then(|limit| usize::try_from(limit).ok());
    limit.unwrap_or(usize::MAX)
}

/// What is served, and to whom.
struct Served {
    server: Arc<Server>,
    sessions: Arc<Sessions>,
    door: Arc<Door>,
}

impl Served {
    fn new(host: &Host, options: ServeOptions, http: &HttpOptions, tls: bool) -> Self {
        let most = http.max_connections.min(open_files() / 2).max(1);
        let door = Door::new(most, http.stalled, http.first_request, tls);
        Self {
            server: Server::new(host.clone(), options),
            sessions: Arc::new(Sessions::new(http.max_sessions)),
            door: Arc::new(door),
        }
    }

    fn app(&self, http: &HttpOptions, address: SocketAddr, stop: CancellationToken) -> Router {
        let guard = Arc::new(Guard::new(http, address));
        let mut config = StreamableHttpServerConfig::default();
        config.allowed_hosts = guard.hosts();
        config.allowed_origins = guard.origins();
        config.max_request_body_bytes = http.max_body_bytes;
        config.cancellation_token = stop;
        let config = config.enforce_origin_validation();
        let client = Arc::clone(&self.server);
        let service = StreamableHttpService::new(
            move || Ok(Client::new(Arc::clone(&client))),
            Arc::clone(&self.sessions),
            config,
        );
        let intake = Arc::new(Intake {
            server: Arc::clone(&self.server),
            sessions: Arc::clone(&self.sessions),
            max_body_bytes: http.max_body_bytes,
            body_time: http.body_time,
            streams: Arc::new(Semaphore::new(self.door.most.div_ceil(2))),
            door: Arc::clone(&self.door),
        });
        let protocol = Router::new()
            .nest_service(PATH, service)
            .route_layer(from_fn_with_state(intake, intake::take_in));
        let (server, sessions, door) = (&self.server, &self.sessions, &self.door);
        let counted = (Arc::clone(server), Arc::clone(sessions), Arc::clone(door));
        Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(ready))
            .with_state(Arc::clone(server))
            .route("/metrics", get(metrics))
            .with_state(counted)
            .merge(protocol)
            .layer(from_fn_with_state(guard, guard::check))
            .layer(from_fn_with_state(Arc::clone(door), door::watch))
    }

    /// Ends sessions that nobody uses any more, for as long as it is polled.
    async fn sweep(&self, idle: Duration) {
        let mut turns = interval((idle / 10).max(Duration::from_millis(10)));
        loop {
            turns.tick().await;
            self.sessions.end_idle(idle);
        }
    }

    /// Lets calls finish within a limit. What takes longer is ended, and has its answer
    /// still.
    async fn finish(&self, limit: Duration) {
        let most = limit.saturating_sub(LAST_ANSWERS);
        let _ = timeout(most, self.server.idle()).await;
        self.server.last.cancel();
        let _ = timeout(LAST_ANSWERS / 2, self.server.idle()).await;
        tokio::time::sleep(LAST_ANSWERS / 4).await;
    }
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

type Counted = (Arc<Server>, Arc<Sessions>, Arc<Door>);

async fn metrics(State((server, sessions, door)): State<Counted>) -> impl IntoResponse {
    let kind = [(CONTENT_TYPE, metrics::CONTENT_TYPE)];
    (kind, metrics::text(&server, &sessions, &door).await)
}

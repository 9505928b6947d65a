//! Connections: how many there may be, and who has to go.
//!
//! Invariants: who says nothing, or does not take what it asked for, keeps a connection for
//! a bounded time only, and none at all from somebody who needs it.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum_server::accept::Accept;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;

/// All connections of a server.
pub(super) struct Door {
    visits: Mutex<HashMap<SocketAddr, Visit>>,
    pub most: usize,
    /// How long a client may take nothing of what is for it.
    pub stalled: Duration,
    /// How long a client may take for its first bytes, where TLS is spoken.
    pub first: Duration,
    pub speaks_tls: bool,
}

/// One connection.
struct Visit {
    /// Requests that are being answered.
    requests: usize,
    /// When it began, or its last request ended.
    since: Instant,
    end: CancellationToken,
}

/// A connection in the list, until it is dropped.
pub(super) struct Entry {
    door: Arc<Door>,
    address: SocketAddr,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.door.visits().remove(&self.address);
    }
}

impl Door {
    pub fn new(most: usize, stalled: Duration, first: Duration, speaks_tls: bool) -> Self {
        Self {
            visits: Mutex::default(),
            most,
            stalled,
            first,
            speaks_tls,
        }
    }

    /// Connections at this moment.
    pub fn count(&self) -> usize {
        self.visits().len()
    }

    fn visits(&self) -> MutexGuard<'_, HashMap<SocketAddr, Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a connection into the list. Where there are too many, the one goes that has
    /// asked nothing for the longest time.
    fn enter(self: &Arc<Self>, address: SocketAddr) -> io::Result<(Entry, CancellationToken)> {
        let mut visits = self.visits();
        if visits.len() >= self.most {
            let idle = visits.iter().filter(|(_, visit)| visit.requests == 0);
            let oldest = idle.min_by_key(|(_, visit)| visit.since);
            let oldest = oldest.map(|(address, _)| *address);
            let visit = oldest.and_then(|address| visits.remove(&address));
            let Some(visit) = visit else {
                tracing::debug!("all connections are in use");
                return Err(io::Error::other("all connections are in use"));
            };
            visit.end.cancel();
        }
        let end = CancellationToken::new();
        let visit = Visit {
            requests: 0,
            since: Instant::now(),
            end: end.clone(),
        };
        visits.insert(address, visit);
        let door = Arc::clone(self);
        Ok((Entry { door, address }, end))
    }

    async fn let_in(self: Arc<Self>, stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        let (entry, end) = self.enter(stream.peer_addr()?)?;
        let connection = Connection::new(stream, entry, end, self.stalled);
        if !self.speaks_tls {
            return Ok(connection);
        }
        let ended = connection.ended();
        tokio::select! {
            () = ended.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
            greeted = timeout(self.first, greet(connection)) => greeted?,
        }
    }
}

/// The first byte of what begins TLS: a record of the handshake.
const HANDSHAKE: u8 = 0x16;

/// What those hear who speak no TLS where it is spoken.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\
    Content-Length: 40\r\nConnection: close\r\n\r\nTLS is spoken here: ask with `https://`\n";

/// Looks whether a client speaks TLS, and tells it where it does not.
async fn greet(mut connection: Connection) -> io::Result<Connection> {
    if connection.first_byte().await? == Some(HANDSHAKE) {
        return Ok(connection);
    }
    // What was not read would break the line before the answer is.
    let _ = connection.read(&mut [0; 4096]).await?;
    connection.write_all(PLAIN).await?;
    connection.shutdown().await?;
    while connection.read(&mut [0; 4096]).await? > 0 {}
    Err(io::Error::other("no TLS was spoken"))
}

/// Lets connections in.
#[derive(Clone)]
pub(super) struct Entrance(pub Arc<Door>);

impl<S: Send + 'static> Accept<TcpStream, S> for Entrance {
    type Stream = Connection;
    type Service = S;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Connection, S)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let door = Arc::clone(&self.0);
        Box::pin(async move { Ok((door.let_in(stream).await?, service)) })
    }
}

/// A request that is being answered, until all of its answer was taken.
struct Busy {
    door: Arc<Door>,
    address: SocketAddr,
}

impl Busy {
    fn begin(door: &Arc<Door>, address: SocketAddr) -> Self {
        if let Some(visit) = door.visits().get_mut(&address) {
            visit.requests += 1;
        }
        let door = Arc::clone(door);
        Self { door, address }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(visit) = self.door.visits().get_mut(&self.address) {
            visit.requests = visit.requests.saturating_sub(1);
            visit.since = Instant::now();
        }
    }
}

/// The body of an answer.
struct Answer {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Answer {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Remembers who is being answered.
pub(super) async fn watch(
    State(door): State<Arc<Door>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let busy = Busy::begin(&door, address);
    let answered = next.run(request).await;
    answered.map(|body| Body::new(Answer { body, _busy: busy }))
}

//! Connections: how many there may be, and who has to go.
//!
//! Invariants: who says nothing, or does not take what it asked for, keeps a connection for
//! a bounded time only, and none at all from somebody who needs it.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum_server::accept::Accept;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::held::holding;

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
    /// Requests whose answers were not taken yet.
    requests: usize,
    /// Those of them whose bodies are still to come.
    reading: usize,
    /// Whether a request was answered.
    has_asked: bool,
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

    /// Puts a connection into the list. Where there are too many, one goes that is not in
    /// use: first those that never were, and of them the oldest.
    fn enter(self: &Arc<Self>, address: SocketAddr) -> io::Result<(Entry, CancellationToken)> {
        let mut visits = self.visits();
        if visits.len() >= self.most {
            let idle = visits
                .iter()
                .filter(|(_, visit)| visit.requests == visit.reading);
            let oldest = idle.min_by_key(|(_, visit)| (visit.has_asked, visit.since));
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
            reading: 0,
            has_asked: false,
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

/// A request of a connection, while something is done for it.
pub(super) struct Busy {
    door: Arc<Door>,
    address: SocketAddr,
    is_read: bool,
}

impl Busy {
    /// A request that is being answered, until all of its answer was taken.
    fn answered(door: &Arc<Door>, address: SocketAddr) -> Self {
        if let Some(visit) = door.visits().get_mut(&address) {
            visit.requests += 1;
        }
        let door = Arc::clone(door);
        Self {
            door,
            address,
            is_read: false,
        }
    }

    /// The same request, while its body is still to come: that is not asking anything yet.
    pub fn read(door: &Arc<Door>, address: SocketAddr) -> Self {
        if let Some(visit) = door.visits().get_mut(&address) {
            visit.reading += 1;
        }
        let door = Arc::clone(door);
        Self {
            door,
            address,
            is_read: true,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(visit) = self.door.visits().get_mut(&self.address) {
            let count = if self.is_read {
                &mut visit.reading
            } else {
                (visit.since, visit.has_asked) = (Instant::now(), true);
                &mut visit.requests
            };
            *count = count.saturating_sub(1);
        }
    }
}

/// Remembers who is being answered.
pub(super) async fn watch(
    State(door): State<Arc<Door>>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let busy = Busy::answered(&door, address);
    holding(next.run(request).await, busy)
}

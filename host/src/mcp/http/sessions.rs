//! The sessions of clients of the first era, and which of them makes room for a new one.
//!
//! Invariants: there are never more than there may be; a session with an open stream is in
//! use and is never ended for another one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// All sessions of a server.
pub(super) struct Sessions {
    inner: Arc<LocalSessionManager>,
    uses: Arc<Mutex<HashMap<SessionId, Use>>>,
    /// Held while room is made and taken.
    turn: tokio::sync::Mutex<()>,
    most: usize,
}

/// How a session is used.
struct Use {
    streams: usize,
    /// Requests that are not answered.
    open: HashSet<RequestId>,
    last: Instant,
}

/// A stream of a session, while it is open.
struct Stay {
    uses: Arc<Mutex<HashMap<SessionId, Use>>>,
    session: SessionId,
    request: Option<RequestId>,
}

fn locked(uses: &Mutex<HashMap<SessionId, Use>>) -> MutexGuard<'_, HashMap<SessionId, Use>> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stay {
    fn begin(sessions: &Sessions, session: &SessionId, request: Option<RequestId>) -> Self {
        if let Some(found) = locked(&sessions.uses).get_mut(session) {
            found.streams += 1;
            found.open.extend(request.clone());
        }
        Self {
            uses: Arc::clone(&sessions.uses),
            session: Arc::clone(session),
            request,
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(found) = locked(&self.uses).get_mut(&self.session) {
            found.streams -= 1;
            found.last = Instant::now();
            if let Some(request) = &self.request {
                found.open.remove(request);
            }
        }
    }
}

impl Sessions {
    /// No session yet, and at most so many.
    pub fn new(most: usize) -> Self {
        let mut inner = LocalSessionManager::default();
        // Who is idle is known here, and a client may think for longer than any such time.
        inner.session_config.keep_alive = None;
        Self {
            inner: Arc::new(inner),
            uses: Arc::default(),
            turn: tokio::sync::Mutex::default(),
            most,
        }
    }

    /// Sessions at this moment.
    pub fn count(&self) -> usize {
        locked(&self.uses).len()
    }

    /// Whether there is such a session.
    pub fn has(&self, session: &str) -> bool {
        locked(&self.uses).contains_key(session)
    }

    /// Whether a session has a request with that id that is not answered.
    pub fn is_open(&self, session: &str, request: &RequestId) -> bool {
        locked(&self.uses)
            .get(session)
            .is_some_and(|found| found.open.contains(request))
    }

    /// Waits until nobody else begins a session.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether one more could begin.
    pub fn has_room(&self) -> bool {
        let uses = locked(&self.uses);
        uses.len() < self.most || uses.values().any(|found| found.streams == 0)
    }

    /// Makes room for one more: where there is none, the session goes that was not used for
    /// the longest time, if one is idle.
    fn make_room(&self) {
        let mut uses = locked(&self.uses);
        while uses.len() >= self.most {
            let idle = uses.iter().filter(|(_, found)| found.streams == 0);
            let oldest = idle.min_by_key(|(_, found)| found.last);
            let Some(oldest) = oldest.map(|(session, _)| Arc::clone(session)) else {
                return;
            };
            tracing::debug!(session = &*oldest, "an idle session makes room");
            uses.remove(&oldest);
            self.end(oldest);
        }
    }

    /// Ends sessions that nobody has used for so long.
    pub fn end_idle(&self, limit: Duration) {
        let is_idle = |found: &mut Use| found.streams == 0 && found.last.elapsed() >= limit;
        let mut uses = locked(&self.uses);
        let idle = uses.extract_if(|_, found| is_idle(found));
        let idle: Vec<SessionId> = idle.map(|(session, _)| session).collect();
        drop(uses);
        for session in idle {
            self.end(session);
        }
    }

    /// Ends a session, in its own time.
    fn end(&self, session: SessionId) {
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            let _ = inner.close_session(&session).await;
        });
    }

    fn touch(&self, session: &SessionId) {
        if let Some(found) = locked(&self.uses).get_mut(session) {
            found.last = Instant::now();
        }
    }
}

/// A stream that is open until it is dropped.
fn staying(
    stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    stay: Stay,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    stream.map(move |message| {
        let _stays = &stay;
        message
    })
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room();
        let (session, transport) = self.inner.create_session().await?;
        let begun = Use {
            streams: 0,
            open: HashSet::new(),
            last: Instant::now(),
        };
        locked(&self.uses).insert(Arc::clone(&session), begun);
        Ok((session, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.has(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        locked(&self.uses).remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let stay = Stay::begin(self, id, request);
        let stream = self.inner.create_stream(id, message).await?;
        Ok(staying(stream, stay))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.touch(id);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stay = Stay::begin(self, id, None);
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(staying(stream, stay))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stay = Stay::begin(self, id, None);
        let stream = self.inner.resume(id, last_event_id).await?;
        Ok(staying(stream, stay))
    }
}

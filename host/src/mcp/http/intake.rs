//! What clients send over HTTP: read within its limits, and answered here where it is no
//! request of the protocol.
//!
//! Invariants: a body takes its share of the memory for what clients send as it comes, and
//! no more time than a body has; nothing is begun for a request that is refused.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, RequestId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::door::{Busy, Door};
use super::headers;
use super::held::holding;
use super::sessions::Sessions;
use crate::mcp::Server;
use crate::mcp::alone::{Alone, Begun, begin};
use crate::mcp::memory::Held;
use crate::mcp::wire::{self, Call, Heard, LastAbout, Refusal, To};
use crate::model::format_bytes;

/// What is known where requests come in.
pub(super) struct Intake {
    pub server: Arc<Server>,
    pub sessions: Arc<Sessions>,
    pub max_body_bytes: usize,
    /// How long a body may take.
    pub body_time: Duration,
    pub door: Arc<Door>,
    /// Places for streams that stay open.
    pub streams: Arc<Semaphore>,
}

/// What answers are.
const JSON: [(HeaderName, HeaderValue); 1] =
    [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];

/// How long the rest of a body is read that is refused: who still writes does not hear.
const REST: Duration = Duration::from_secs(5);

/// What a client waits before it tries again.
const LATER: &str = "1";

/// Reads a request to its end, and lets it in.
pub(super) async fn take_in(
    State(intake): State<Arc<Intake>>,
    request: Request,
    next: Next,
) -> Response {
    match *request.method() {
        // What is no JSON by its own word is refused without being read.
        Method::POST if is_json(&request) => intake
            .post(request, next)
            .await
            .unwrap_or_else(|refused| refused),
        Method::GET => intake
            .stream(request, next)
            .await
            .unwrap_or_else(|refused| refused),
        Method::DELETE => intake.delete(request, next).await,
        _ => next.run(request).await,
    }
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn session(parts: &Parts) -> Option<&str> {
    let session = parts.headers.get("mcp-session-id");
    session.and_then(|session| session.to_str().ok())
}

impl Intake {
    async fn post(&self, request: Request, next: Next) -> Result<Response, Response> {
        let (mut parts, body) = request.into_parts();
        let (bytes, held) = {
            let from = parts.extensions.get::<ConnectInfo<SocketAddr>>();
            let _reading = from.map(|from| Busy::read(&self.door, from.0));
            self.read(body).await?
        };
        let heard =
            wire::read(&bytes, &mut LastAbout::default()).map_err(|refusal| answer(&refusal))?;
        let held = Held::new(held);
        parts.extensions.insert(held.clone());
        let answered = match heard {
            Heard::Call(call) => self.call(parts, &bytes, call, &held, next).await,
            Heard::Message(message) => self.message(parts, bytes.clone(), *message, next).await,
        };
        answered.map(|answer| holding(answer, held))
    }

    async fn message(
        &self,
        parts: Parts,
        bytes: Bytes,
        message: ClientJsonRpcMessage,
        next: Next,
    ) -> Result<Response, Response> {
        if let Some(id) = id_of(&message) {
            self.check_id(&parts, id)?;
        }
        let kind = Kind::of(&message);
        let begins = kind == Kind::Handshake && session(&parts).is_none();
        let request = Request::from_parts(parts, Body::from(bytes));
        if kind == Kind::Subscription {
            return self.stream(request, next).await;
        }
        if !begins {
            return Ok(next.run(request).await);
        }
        // Room is made when all of the request is found to be right.
        let _turn = self.sessions.turn().await;
        if !self.sessions.has_room() {
            let text = "all sessions are in use\n";
            let later = [(RETRY_AFTER, "10")];
            return Err((StatusCode::SERVICE_UNAVAILABLE, later, text).into_response());
        }
        Ok(next.run(request).await)
    }

    /// Opens a stream, if there is a place for one more.
    async fn stream(&self, request: Request, next: Next) -> Result<Response, Response> {
        let place = Arc::clone(&self.streams).try_acquire_owned();
        let place = place.map_err(|_| {
            let text = "too many streams are open\n";
            (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "10")], text).into_response()
        })?;
        Ok(holding(next.run(request).await, place))
    }

    async fn call(
        &self,
        mut parts: Parts,
        bytes: &Bytes,
        mut call: Call<'_>,
        held: &Held,
        next: Next,
    ) -> Result<Response, Response> {
        self.check_id(&parts, &call.id)?;
        let to = To::Request(call.raw_id().to_owned());
        // Whoever is let in here may be refused later still, if others are faster.
        let room = self.server.has_room(&to);
        room.map_err(|refusal| answer(&refusal))?;
        let has_headers = self.server.offers().listing.has_headers(&call.name);
        if !has_headers && headers::are_right(&parts.headers, &call) {
            call = match Alone::of(call, held) {
                Ok(alone) => return Ok(self.answer(alone).await),
                Err(call) => call,
            };
        }
        parts.extensions.insert(call.arguments());
        // Arguments go beside the request, and are read once. Only where headers repeat some
        // of them must they be in it.
        let body = if has_headers {
            bytes.clone()
        } else {
            call.without_arguments().into()
        };
        drop(call);
        parts.headers.insert(CONTENT_LENGTH, body.len().into());
        let answered = next.run(Request::from_parts(parts, Body::from(body))).await;
        if answered.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let refusal = Refusal::wrong_params(to, "the arguments can not be read");
            return Err(answer(&refusal));
        }
        Ok(answered)
    }

    /// Answers a call that stands alone. It ends when its client has gone.
    async fn answer(&self, alone: Alone) -> Response {
        let cancel = self.server.last.child_token();
        let gone = cancel.clone().drop_guard();
        let answer = alone.answer(Arc::clone(&self.server), cancel);
        let message = match begin(Box::pin(answer)).await {
            Begun::Done(message) => Ok(message),
            Begun::Goes(task) => task.await,
        };
        gone.disarm();
        match message.map(|(message, _rest)| serde_json::to_vec(&message)) {
            Ok(Ok(text)) => (StatusCode::OK, JSON, text).into_response(),
            _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    /// Two requests of one session with one id could not be told apart.
    fn check_id(&self, parts: &Parts, id: &RequestId) -> Result<(), Response> {
        let is_open = session(parts).is_some_and(|session| self.sessions.is_open(session, id));
        if !is_open {
            return Ok(());
        }
        let to = To::Request(id.clone().into_json_value().to_string());
        let text = "a request with this `id` is open still";
        Err(answer(&Refusal::no_request(to, text)))
    }

    /// Reads a body to its end.
    async fn read(&self, body: Body) -> Result<(Bytes, OwnedSemaphorePermit), Response> {
        let deadline = Instant::now() + self.body_time;
        let mut pieces = body.into_data_stream();
        let mut bytes = Vec::new();
        let mut held = self.take(0)?;
        loop {
            let Ok(piece) = timeout_at(deadline, pieces.next()).await else {
                let text = "the body took too long\n";
                return Err(
                    (StatusCode::REQUEST_TIMEOUT, [(CONNECTION, "close")], text).into_response()
                );
            };
            match piece {
                None => return Ok((bytes.into(), held)),
                Some(Err(_)) => {
                    return Err((StatusCode::BAD_REQUEST, "the body has no end\n").into_response());
                }
                Some(Ok(piece)) => {
                    if bytes.len() + piece.len() > self.max_body_bytes {
                        drop((bytes, held));
                        let rest = async { while let Some(Ok(_)) = pieces.next().await {} };
                        let _ = timeout_at(deadline.min(Instant::now() + REST), rest).await;
                        return Err(self.too_large());
                    }
                    held.merge(self.take(piece.len())?);
                    bytes.extend_from_slice(&piece);
                }
            }
        }
    }

    fn too_large(&self) -> Response {
        let most = format_bytes(self.max_body_bytes as u64);
        let text = format!("the body has more than the {most} that one may have\n");
        (StatusCode::PAYLOAD_TOO_LARGE, [(CONNECTION, "close")], text).into_response()
    }

    /// Takes its share of the memory for a piece of a body.
    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Response> {
        self.server.memory.request_now(bytes).ok_or_else(|| {
            let headers = [(RETRY_AFTER, LATER), (CONNECTION, "close")];
            let text = "others send too much at this moment\n";
            (StatusCode::SERVICE_UNAVAILABLE, headers, text).into_response()
        })
    }

    /// Ends a session. Other than what says that it will be ended, this says that it was.
    async fn delete(&self, request: Request, next: Next) -> Response {
        let (parts, body) = request.into_parts();
        if session(&parts).is_some_and(|session| !self.sessions.has(session)) {
            return (StatusCode::NOT_FOUND, "there is no such session\n").into_response();
        }
        let answered = next.run(Request::from_parts(parts, body)).await;
        if answered.status() == StatusCode::ACCEPTED {
            return StatusCode::NO_CONTENT.into_response();
        }
        answered
    }
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// What is special about a message that is no call.
#[derive(PartialEq, Eq)]
enum Kind {
    /// It begins a session.
    Handshake,
    /// It opens a stream.
    Subscription,
    Other,
}

impl Kind {
    fn of(message: &ClientJsonRpcMessage) -> Self {
        match message {
            JsonRpcMessage::Request(request) => match request.request {
                ClientRequest::InitializeRequest(_) => Self::Handshake,
                ClientRequest::SubscriptionsListenRequest(_) => Self::Subscription,
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }
}

/// A refusal over HTTP. Clients take errors with a good status for answers to their
/// requests, and others for faults of the line.
fn answer(refusal: &Refusal) -> Response {
    let is_request = matches!(refusal.to, To::Request(_));
    let status = match refusal.code {
        ErrorCode::INVALID_PARAMS if is_request => StatusCode::OK,
        ErrorCode::PARSE_ERROR | ErrorCode::INVALID_REQUEST | ErrorCode::INVALID_PARAMS => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = (status, JSON, refusal.message()).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let later = HeaderValue::from_static(LATER);
        response.headers_mut().insert(RETRY_AFTER, later);
    }
    response
}

//! Messages over standard streams.
//!
//! Invariant: each request that comes is answered once, or passed on once to be answered;
//! an id is never passed on while a request with it is open.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rmcp::model::{
    ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    ProtocolVersion, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::super::Server;
use super::super::alone::Alone;
use super::super::memory::Held;
use super::super::wire::{self, Heard, LastAbout, Refusal, To};
use super::lines::{Line, Lines};
use super::output::Output;
use super::own::Own;

/// Requests besides calls that may be open at one time: subscriptions, above all.
const OTHERS: usize = 1_024;

/// The two streams of one client.
pub(super) struct Streams<R, W> {
    server: Arc<Server>,
    lines: Lines<R>,
    output: Arc<Output<W>>,
    /// Cancelled when the input has ended.
    ended: CancellationToken,
    /// What the client said of itself with its last call.
    last: LastAbout,
    /// Calls that are not passed on.
    own: Own<W>,
    /// Requests that were passed on and are not answered.
    open: HashMap<RequestId, Option<Held>>,
    /// Whether a request has begun the conversation.
    begun: bool,
}

/// What a line is.
enum Said {
    Nothing,
    Call(Alone),
    Message(Box<RxJsonRpcMessage<RoleServer>>),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Streams<R, W> {
    pub fn new(server: Arc<Server>, input: R, output: W, ended: CancellationToken) -> Self {
        let output = Arc::new(Output::new(output));
        Self {
            lines: Lines::new(input, server.options.max_line_bytes),
            own: Own::new(Arc::clone(&server), Arc::clone(&output)),
            output,
            server,
            ended,
            last: LastAbout::default(),
            open: HashMap::new(),
            begun: false,
        }
    }

    /// The next message that is for a handler; `None`: the input has ended.
    async fn next(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        loop {
            // Who does not read what it is told is told nothing more.
            self.output.ready().await?;
            let said = match self.lines.next().await? {
                Line::End => return Ok(None),
                Line::TooLong(head) => Err(Refusal::too_long(
                    wire::to_of_head(&head),
                    self.server.options.max_line_bytes,
                )),
                Line::Whole(line) => {
                    let held = self.server.memory.request(line.len()).await?;
                    let said = understood(self.lines.bytes(&line), Held::new(held), &mut self.last);
                    self.lines.done(&line);
                    said
                }
            };
            let admitted = match said {
                Ok(Said::Nothing) => continue,
                Ok(Said::Call(call)) => match self.admit_id(&call.id) {
                    Ok(()) => {
                        let is_alone = self.own.count() == 0 && self.lines.is_empty();
                        self.own.answer(call, is_alone).await;
                        continue;
                    }
                    Err(refusal) => Err(refusal),
                },
                Ok(Said::Message(message)) => self.admit(*message),
                Err(refusal) => Err(refusal),
            };
            match admitted {
                Ok(Some(message)) => return Ok(Some(message)),
                Ok(None) => {}
                Err(refusal) => self.refuse(&refusal),
            }
        }
    }

    fn refuse(&self, refusal: &Refusal) {
        tracing::debug!(code = refusal.code.0, "refused: {}", refusal.text);
        if refusal.to != To::Nobody {
            self.output.owe(&refusal.message());
        }
    }

    /// Whether a message is passed on; `None`: it is for nobody.
    fn admit(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
    ) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.admit_id(&request.id)?;
                let held = Held::of(request.request.extensions()).cloned();
                self.open.insert(request.id.clone(), held);
                self.begun |= begins(&request.request);
            }
            // Before that they would end it.
            _ if !self.begun => return Ok(None),
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It is not answered any more.
                    self.open.remove(id);
                    self.own.cancel(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(Some(message))
    }

    /// Whether one more request may be open, with this id.
    fn admit_id(&self, id: &RequestId) -> Result<(), Refusal> {
        let to = || To::Request(id.clone().into_json_value().to_string());
        let options = &self.server.options;
        let most = options.max_calls + options.max_waiting + OTHERS;
        if self.open.len() + self.own.count() >= most {
            let text = "too many requests are open; wait for some answers";
            return Err(Refusal::busy(to(), text));
        }
        if self.open.contains_key(id) || self.own.has(id) {
            let text = "a request with this `id` is open still";
            return Err(Refusal::no_request(to(), text));
        }
        Ok(())
    }
}

/// Reads a line.
fn understood(line: &[u8], held: Held, last: &mut LastAbout) -> Result<Said, Refusal> {
    let bytes = line.trim_ascii();
    if bytes.is_empty() {
        return Ok(Said::Nothing);
    }
    Ok(match wire::read(bytes, last)? {
        Heard::Call(call) => match Alone::of(call, &held) {
            Ok(call) => Said::Call(call),
            Err(call) => Said::Message(Box::new(call.into_message(held))),
        },
        Heard::Message(message) => Said::Message(Box::new(wire::holding(*message, held))),
    })
}

/// Whether a request begins the conversation: by a handshake, or by saying all about itself.
/// Whoever only looks around may still do the one or the other.
fn begins(request: &ClientRequest) -> bool {
    let says_all = || {
        let meta = request.get_meta();
        let version = meta.protocol_version();
        meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
            .is_empty()
            && version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
    };
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        _ => says_all(),
    }
}

impl<R, W> Transport<RoleServer> for Streams<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(answer) => answer.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        // Its memory is held until it is written.
        let answers = answered.and_then(|id| self.open.remove(id));
        let output = Arc::clone(&self.output);
        async move {
            match output.send(&message).await {
                // That a client is gone is no fault, and it is known where it matters.
                Err(error) if answers.is_some() => {
                    tracing::debug!(%error, "an answer could not be given");
                    Ok(())
                }
                sent => sent,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let next = self.next().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "the client is gone");
            None
        });
        if next.is_none() {
            self.ended.cancel();
            self.own.ended().await;
        }
        next
    }

    async fn close(&mut self) -> io::Result<()> {
        self.own.ended().await;
        // That a client is gone is no fault.
        let _ = self.output.close().await;
        Ok(())
    }
}

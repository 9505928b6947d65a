//! Calls that stand alone: their clients say with them all that there is to know, and want to
//! hear nothing but the answer. They belong to no session, so they are answered where they
//! are read; all others are the library's, and so is every call that is not wholly right.
//!
//! Invariant: a client can not tell the two ways apart by what it is answered.

use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;
use rmcp::model::{CallToolResponse, RequestId, ServerJsonRpcMessage};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::calling::Asker;
use super::memory::Held;
use super::wire::{Arguments, Call};
use crate::dispatch::Rest;

/// A call that stands alone.
pub(super) struct Alone {
    pub id: RequestId,
    tool: String,
    arguments: Arguments,
    client: Option<Arc<str>>,
    pub held: Held,
}

impl Alone {
    /// The same call as one that stands alone, if it is one.
    pub fn of<'a>(call: Call<'a>, held: &Held) -> Result<Self, Call<'a>> {
        let Some(about) = call.about_if_alone() else {
            return Err(call);
        };
        Ok(Self {
            client: about.client.clone(),
            arguments: call.arguments(),
            held: held.clone(),
            tool: call.name.into_owned(),
            id: call.id,
        })
    }

    /// What it is answered, and what is left of it then.
    pub async fn answer(
        self,
        server: Arc<Server>,
        cancel: CancellationToken,
    ) -> (ServerJsonRpcMessage, Rest) {
        let asker = Asker {
            name: self.client,
            cancel,
            ears: None,
            knows_links: true,
            held: Some(self.held),
        };
        match server.call(&self.tool, &self.arguments.0, asker).await {
            Ok((result, rest)) => {
                let result = CallToolResponse::from(result).into();
                (ServerJsonRpcMessage::response(result, self.id), rest)
            }
            Err(error) => {
                let message = ServerJsonRpcMessage::error(error, Some(self.id));
                (message, Rest::default())
            }
        }
    }
}

/// Work that was begun.
pub(super) enum Begun<T> {
    Done(T),
    /// It goes on by itself.
    Goes(JoinHandle<T>),
}

/// Begins with some work at once, which saves a way to another thread where it does not take
/// long. A guest that computes for longer is left by the next tick of the engine's clock.
pub(super) async fn begin<T: Send + 'static>(mut work: BoxFuture<'static, T>) -> Begun<T> {
    match futures::poll!(&mut work) {
        Poll::Ready(done) => Begun::Done(done),
        Poll::Pending => Begun::Goes(tokio::spawn(work)),
    }
}

//! One client over standard input and output.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::announce::Announcer;
use super::handler::Client;
use super::{ServeError, ServeOptions, Server};
use crate::host::Host;

/// How long calls may go on after their client has gone: clients end a server that takes
/// longer than two seconds.
const LAST_CALLS: Duration = Duration::from_millis(800);

/// Serves the client at the other ends of standard input and output, until its input ends
/// or `end` does.
pub async fn serve_stdio(
    host: &Host,
    options: ServeOptions,
    end: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let server = Server::new(host.clone(), options);
    let announcer = tokio::spawn(Announcer::new(&server).announce());
    let ended = serve(Client::new(server), end).await;
    announcer.abort();
    ended
}

async fn serve(client: Client, end: impl Future<Output = ()>) -> Result<(), ServeError> {
    let mut end = std::pin::pin!(end);
    let (input, output) = stdio_pipes();
    let input = Input {
        inner: input,
        ended: CancellationToken::new(),
    };
    let input_ended = input.ended.clone();
    let begun = tokio::select! {
        begun = serve_server(client, (input, output)) => begun,
        () = &mut end => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        // Who asks nothing needs no answer.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::NotBegun(error.to_string())),
    };
    let stop = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    tokio::select! {
        ended = &mut waiting => {
            return ended.map(drop).map_err(|error| ServeError::Failed(error.to_string()));
        }
        () = &mut end => stop.cancel(),
        // Answers that are nearly there may still be read.
        () = input_ended.cancelled() => {
            if timeout(LAST_CALLS, &mut waiting).await.is_ok() {
                return Ok(());
            }
            stop.cancel();
        }
    }
    let _ = timeout(LAST_CALLS, waiting).await;
    Ok(())
}

/// Standard input, which says when it has ended.
struct Input<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let is_end = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.ended.cancel();
        }
        read
    }
}

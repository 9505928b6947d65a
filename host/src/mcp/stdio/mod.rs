//! One client over standard input and output.

mod lines;
mod output;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::io::stdio_pipes;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::transport::Streams;
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
    let ended = serve(server, end).await;
    announcer.abort();
    ended
}

async fn serve(server: Arc<Server>, end: impl Future<Output = ()>) -> Result<(), ServeError> {
    let mut end = std::pin::pin!(end);
    let (input, output) = stdio_pipes();
    let input_ended = CancellationToken::new();
    let streams = Streams::new(Arc::clone(&server), input, output, input_ended.clone());
    let begun = tokio::select! {
        begun = serve_server(Client::new(server), streams) => begun,
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

//! One client over standard input and output.

mod lines;
mod output;
mod own;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
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
    let stop = CancellationToken::new();
    let client = Client::new(Arc::clone(&server));
    let begun = Box::pin(serve_server_with_ct(client, streams, stop.clone()));
    let serving = async {
        match begun.await {
            Ok(running) => running
                .waiting()
                .await
                .map(drop)
                .map_err(|error| ServeError::Failed(error.to_string())),
            // Who asks nothing needs no answer.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::NotBegun(error.to_string())),
        }
    };
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        ended = &mut serving => return ended,
        () = &mut end => {}
        // Answers that are nearly there may still be read.
        () = input_ended.cancelled() => {
            if let Ok(ended) = timeout(LAST_CALLS, &mut serving).await {
                return ended;
            }
        }
    }
    server.last.cancel();
    stop.cancel();
    let ended = async {
        let _ = serving.await;
        server.idle().await;
    };
    let _ = timeout(LAST_CALLS, ended).await;
    Ok(())
}

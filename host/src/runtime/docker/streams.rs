//! The three streams of a container while it is attached to.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bollard::container::LogOutput;
use bollard::errors::Error;
use futures::{Stream, StreamExt as _};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::faults::is_closed_unread;
use crate::runtime::capture::{Capture, Stream as Which};
use crate::runtime::{Ending, Execution, ExecutionOutput};

/// Where the two streams of one call end.
pub(super) struct Captures {
    stdout: Capture,
    stderr: Capture,
}

impl Captures {
    pub fn new(execution: &Execution<'_>, configured: u64) -> Self {
        let limit = execution.max_output.unwrap_or(configured);
        let of = |which| Capture::new(which, limit, execution.events.clone());
        Self {
            stdout: of(Which::Stdout),
            stderr: of(Which::Stderr),
        }
    }

    /// What came so far, and how it ended.
    pub fn output(
        &self,
        ending: Ending,
        exit_code: Option<i32>,
        started: Instant,
    ) -> ExecutionOutput {
        ExecutionOutput {
            stdout: self.stdout.take(),
            stderr: self.stderr.take(),
            exit_code,
            duration: started.elapsed(),
            waited: Duration::ZERO,
            ending,
        }
    }

    /// Reads both streams to their very end, which is also an engine that `hangs_up` on input
    /// that it was given and that the command left unread.
    pub async fn read(
        &self,
        mut output: impl Stream<Item = Result<LogOutput, Error>> + Unpin,
        hangs_up: bool,
    ) -> Result<(), Error> {
        while let Some(piece) = output.next().await {
            let piece = match piece {
                Err(error) if hangs_up && is_closed_unread(&error) => break,
                piece => piece?,
            };
            match piece {
                LogOutput::StdErr { message } => self.stderr.accept(&message),
                LogOutput::StdOut { message } | LogOutput::Console { message } => {
                    self.stdout.accept(&message);
                }
                LogOutput::StdIn { .. } => {}
            }
        }
        Ok(())
    }
}

/// Writes standard input and closes it. A command need not read it.
pub(super) async fn feed(
    mut input: Pin<Box<dyn AsyncWrite + Send>>,
    bytes: Option<&[u8]>,
) -> Infallible {
    if let Some(bytes) = bytes
        && input.write_all(bytes).await.is_ok()
    {
        let _ = input.shutdown().await;
    }
    // Dropped, it would close the other direction too.
    std::future::pending().await
}

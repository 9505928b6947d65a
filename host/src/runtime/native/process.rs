//! One run of a prepared command: streams, deadline, cancellation and end.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::group::{End, Group, Streams};
use super::launch::Launch;
use crate::model::{Captured, EventSink};
use crate::runtime::cancelled;
use crate::runtime::capture::{Capture, Stream};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// How long output is awaited after the command's end, from processes that it left
/// behind with its streams.
const DRAIN: Duration = Duration::from_millis(250);

/// Bytes read from a stream at once, and the most that a pipe can hold.
const CHUNK: usize = 32 << 10;
const PIPE: usize = 1 << 20;

/// A command ready to start.
pub(super) struct Prepared {
    /// Whether it has an input is replaced.
    pub(super) launch: Launch,
    /// The socket to the warden, where the sandbox has one.
    pub(super) warden: Option<StdUnixStream>,
}

/// What a run is bound by.
pub(super) struct Bounds<'a> {
    pub(super) stdin: Option<&'a [u8]>,
    pub(super) timeout: Duration,
    pub(super) cancel: Option<&'a CancellationToken>,
    pub(super) events: Option<EventSink>,
    pub(super) max_output: u64,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Ended(End),
    TimedOut,
    Cancelled,
}

/// What a run left behind.
pub(super) struct Ran {
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) over: Over,
    pub(super) duration: Duration,
}

/// Runs a command to its end. Nothing of it is left when this returns or is dropped.
pub(super) async fn run(mut prepared: Prepared, bounds: Bounds<'_>) -> io::Result<Ran> {
    let started = Instant::now();
    prepared.launch.with_stdin(bounds.stdin.is_some());
    let stdout = Capture::new(Stream::Stdout, bounds.max_output, bounds.events.clone());
    let stderr = Capture::new(Stream::Stderr, bounds.max_output, bounds.events.clone());
    let over = follow(prepared, &bounds, &stdout, &stderr).await?;
    Ok(Ran {
        stdout: stdout.take(),
        stderr: stderr.take(),
        over,
        duration: started.elapsed(),
    })
}

async fn follow(
    prepared: Prepared,
    bounds: &Bounds<'_>,
    stdout: &Capture,
    stderr: &Capture,
) -> io::Result<Over> {
    let deadline = sleep(bounds.timeout);
    tokio::pin!(deadline);
    // A file system that hangs can hold a start for ever. What starts too late is ended
    // where it is started.
    let patience = bounds.timeout.saturating_add(GRACE);
    let starting = Group::start(prepared.launch, prepared.warden);
    let Ok(started) = timeout(patience, starting).await else {
        return Ok(Over::TimedOut);
    };
    let (mut group, streams) = started?;
    let Streams {
        stdin,
        stdout: out,
        stderr: err,
    } = streams;
    let (out, err) = (
        pipe::Receiver::from_owned_fd(out)?,
        pipe::Receiver::from_owned_fd(err)?,
    );
    let output = async { tokio::join!(drain(&out, stdout), drain(&err, stderr)) };
    let input = feed(stdin.map(pipe::Sender::from_owned_fd).transpose()?, bounds);
    tokio::pin!(output, input);
    let (mut is_drained, mut is_fed) = (false, false);
    let over = loop {
        tokio::select! {
            biased;
            end = group.ended() => break Over::Ended(end?),
            () = cancelled(bounds.cancel) => break Over::Cancelled,
            () = &mut deadline => break Over::TimedOut,
            _ = &mut output, if !is_drained => is_drained = true,
            () = &mut input, if !is_fed => is_fed = true,
        }
    };
    let ended_by_itself = matches!(over, Over::Ended(_));
    if !ended_by_itself {
        group.terminate();
        let grace = sleep(GRACE);
        tokio::pin!(grace);
        loop {
            tokio::select! {
                biased;
                _ = group.ended() => break,
                () = &mut grace => break,
                _ = &mut output, if !is_drained => is_drained = true,
            }
        }
    }
    if !is_drained && ended_by_itself {
        tokio::select! {
            biased;
            _ = &mut output => is_drained = true,
            // The sandbox's own process holds the streams too, and is longer in ending.
            () = group.deserted() => {}
            () = sleep(DRAIN) => {}
        }
    }
    group.finish().await;
    if !is_drained {
        take_rest(&out, stdout);
        take_rest(&err, stderr);
    }
    Ok(over)
}

/// Reads to the end of a stream. An error while reading is its end.
async fn drain(stream: &pipe::Receiver, capture: &Capture) {
    let mut chunk = vec![0; CHUNK];
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut chunk) {
            Ok(count @ 1..) => capture.accept(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => break,
        }
    }
}

/// Takes what the command wrote before its end and is still in a pipe, whoever else may
/// hold that.
fn take_rest(stream: &pipe::Receiver, capture: &Capture) {
    let mut chunk = vec![0; CHUNK];
    for _ in 0..PIPE.div_ceil(CHUNK) {
        match retry_on_intr(|| rustix::io::read(stream, &mut *chunk)) {
            Ok(count @ 1..) => capture.accept(&chunk[..count]),
            Ok(_) | Err(_) => break,
        }
    }
}

/// Writes all of standard input, unless the command stops reading.
async fn feed(stdin: Option<pipe::Sender>, bounds: &Bounds<'_>) {
    if let (Some(mut stdin), Some(bytes)) = (stdin, bounds.stdin) {
        let _ = stdin.write_all(bytes).await;
    }
}

//! One call as an event, and as one line in the log.
//!
//! Invariant: a call that began ends once, also where its future is dropped or panics. A
//! call that nobody hears of costs no more than its number.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::{CallBegan, CallEnded, EventStream, HostEvent};
use crate::model::{CallOptions, CallReport, Captured, OutcomeKind};
use crate::registry::Snapshot;

/// Characters of a name that is no tool's.
const MAX_UNKNOWN: usize = 64;

/// A call that is heard of, from its beginning to its end.
pub(crate) struct CallWatch<'a> {
    stream: &'a EventStream,
    snapshot: &'a Snapshot,
    tool: &'a str,
    call: u64,
    client: Option<Arc<str>>,
    waited: Duration,
    argument_bytes: u64,
    began: Instant,
    has_ended: bool,
}

impl<'a> CallWatch<'a> {
    /// Begins to watch a call; `None`: nobody would hear of it.
    pub fn begin(
        stream: &'a EventStream,
        snapshot: &'a Snapshot,
        call: u64,
        (tool, arguments): (&'a str, &str),
        options: &CallOptions,
    ) -> Option<Self> {
        if !stream.is_heard() && !is_logged() {
            return None;
        }
        let watch = Self {
            stream,
            snapshot,
            tool,
            call,
            client: options.client.clone(),
            waited: options.waited,
            argument_bytes: arguments.len() as u64,
            began: Instant::now(),
            has_ended: false,
        };
        if stream.is_heard() {
            stream.send(HostEvent::CallBegan(CallBegan {
                call,
                at: SystemTime::now(),
                tool: watch.name(),
                client: watch.client.clone(),
                argument_bytes: watch.argument_bytes,
            }));
        }
        Some(watch)
    }

    /// The call ended.
    pub fn end(mut self, report: &CallReport) {
        self.has_ended = true;
        let all = |captured: &Captured| captured.bytes.len() as u64 + captured.dropped;
        self.tell(CallEnded {
            answer_bytes: report.outcome.answer_bytes(),
            stdout_bytes: all(&report.stdout),
            stderr_bytes: all(&report.stderr),
            waited: self.waited + report.waited,
            ..self.ended(report.outcome.kind(), report.duration)
        });
    }

    /// The call was refused before the host was asked: there is no such tool for this
    /// caller.
    #[cfg(feature = "mcp")]
    pub fn refuse(mut self) {
        self.has_ended = true;
        self.tell(self.ended(OutcomeKind::UnknownTool, self.began.elapsed()));
    }

    fn ended(&self, outcome: OutcomeKind, duration: Duration) -> CallEnded {
        let tool = self.snapshot.tool(self.tool);
        CallEnded {
            call: self.call,
            at: SystemTime::now(),
            tool: self.name(),
            module: tool.and_then(|tool| tool.entry().version()),
            snapshot: self.snapshot.number(),
            client: self.client.clone(),
            outcome,
            duration,
            waited: self.waited,
            argument_bytes: self.argument_bytes,
            answer_bytes: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
        }
    }

    fn name(&self) -> String {
        if self.snapshot.tool(self.tool).is_some() {
            return self.tool.to_owned();
        }
        let shown = self.tool.chars().take(MAX_UNKNOWN);
        shown.flat_map(char::escape_debug).collect()
    }

    fn tell(&self, ended: CallEnded) {
        log(&ended);
        if self.stream.is_heard() {
            self.stream.send(HostEvent::CallEnded(ended));
        }
    }
}

impl Drop for CallWatch<'_> {
    /// Nobody waits for the call any more.
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let outcome = OutcomeKind::of_abandoned();
        self.tell(self.ended(outcome, self.began.elapsed()));
    }
}

fn is_logged() -> bool {
    tracing::enabled!(target: "prx_host::calls", tracing::Level::INFO)
}

/// The one line for each call. Its fields are those of [`CallEnded`], times in milliseconds;
/// the README names them.
fn log(ended: &CallEnded) {
    tracing::info!(
        target: "prx_host::calls",
        call = ended.call,
        tool = ended.tool,
        module = ended.module.as_deref(),
        snapshot = ended.snapshot,
        client = ended.client.as_deref(),
        outcome = ended.outcome.as_str(),
        ms = milliseconds(ended.duration),
        waited_ms = milliseconds(ended.waited),
        argument_bytes = ended.argument_bytes,
        answer_bytes = ended.answer_bytes,
        stdout_bytes = ended.stdout_bytes,
        stderr_bytes = ended.stderr_bytes,
        "call"
    );
}

/// To the microsecond: most calls take less than a millisecond.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

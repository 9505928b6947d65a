//! What a client hears while a call runs: progress, and messages of the tool.
//!
//! Invariant: what is told is told in order and before the answer, progress only grows, and
//! a client that reads slowly loses messages, never the call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::model::{Event, EventSink, LogLevel};

/// Messages that wait for a slow client; more are lost.
const WAITING: usize = 256;
/// How long an answer waits for the messages before it.
const LAST_MESSAGES: Duration = Duration::from_secs(1);
/// Characters of a line of output that is told as progress.
const LINE: usize = 200;

/// What one client wants to hear of one call.
pub(super) struct Ears {
    pub peer: Peer<RoleServer>,
    pub token: Option<ProgressToken>,
    /// Messages of this level and graver ones; `None`: none.
    pub level: Option<LoggingLevel>,
    pub tool: String,
}

/// Something to tell.
enum News {
    Progress(f64, Option<f64>, Option<String>),
    Line(String),
    Message(LoggingLevel, Value),
}

/// Tells a client of a call that runs, from the first thing on that there is to tell: most
/// calls say nothing.
pub(super) struct Teller(Arc<Line>);

/// From a call to who tells of it.
struct Line(Mutex<State>);

enum State {
    Silent(Box<Ears>),
    Telling {
        news: mpsc::Sender<News>,
        task: JoinHandle<()>,
    },
    Over,
}

impl Line {
    fn say(&self, told: News, runtime: &Handle) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match std::mem::replace(&mut *state, State::Over) {
            State::Silent(ears) => {
                let (news, heard) = mpsc::channel(WAITING);
                let task = runtime.spawn(ears.tell(heard));
                State::Telling { news, task }
            }
            begun => begun,
        };
        if let State::Telling { news, .. } = &*state {
            let _ = news.try_send(told);
        }
    }
}

impl Ears {
    /// A sink for the events of a call; `None`: the client wants to hear nothing.
    pub fn open(self) -> Option<(EventSink, Teller)> {
        if self.token.is_none() && self.level.is_none() {
            return None;
        }
        let (level, progress) = (self.level, self.token.is_some());
        let line = Arc::new(Line(Mutex::new(State::Silent(Box::new(self)))));
        // Events may come from any thread.
        let (teller, runtime) = (Teller(Arc::clone(&line)), Handle::current());
        let sink: EventSink = Arc::new(move |event: Event<'_>| {
            let news_of = match event {
                Event::Progress(told) if progress => Some(News::Progress(
                    told.done,
                    told.total,
                    told.message.map(str::to_owned),
                )),
                Event::Stdout(bytes) | Event::Stderr(bytes) if progress => last_line(bytes),
                Event::Log {
                    level: grave,
                    message,
                    fields,
                } => message_of(level, grave, message, fields),
                _ => None,
            };
            if let Some(told) = news_of {
                line.say(told, &runtime);
            }
        });
        Some((sink, teller))
    }

    async fn tell(self, mut heard: mpsc::Receiver<News>) {
        let (mut last, mut lines) = (f64::NEG_INFINITY, 0_u32);
        while let Some(news) = heard.recv().await {
            let (done, total, message) = match news {
                News::Message(level, data) => {
                    let told = LoggingMessageNotificationParam::new(level, data);
                    let told = told.with_logger(self.tool.clone());
                    if self.peer.notify_logging_message(told).await.is_err() {
                        return;
                    }
                    continue;
                }
                News::Line(line) => {
                    lines += 1;
                    (f64::from(lines), None, Some(line))
                }
                News::Progress(done, total, message) => (done, total, message),
            };
            let Some(token) = self.token.clone().filter(|_| done > last) else {
                continue;
            };
            last = done;
            let mut told = ProgressNotificationParam::new(token, done);
            (told.total, told.message) = (total, message);
            if self.peer.notify_progress(told).await.is_err() {
                return;
            }
        }
    }
}

impl Teller {
    /// Waits until all is told, for a while: the answer comes after.
    pub async fn finish(self) {
        let state = {
            let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *state, State::Over)
        };
        if let State::Telling { news, task } = state {
            drop(news);
            let end = task.abort_handle();
            if timeout(LAST_MESSAGES, task).await.is_err() {
                end.abort();
            }
        }
    }
}

fn last_line(bytes: &[u8]) -> Option<News> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().rev();
    let line = lines.find(|line| !line.trim().is_empty())?;
    Some(News::Line(line.chars().take(LINE).collect()))
}

fn message_of(
    least: Option<LoggingLevel>,
    level: LogLevel,
    message: &str,
    fields: &[(String, String)],
) -> Option<News> {
    let level = match level {
        LogLevel::Trace | LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Warn => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
    };
    if rank(level) < rank(least?) {
        return None;
    }
    let data = if fields.is_empty() {
        json!(message)
    } else {
        let fields = fields.iter();
        let fields: Map<String, Value> = fields
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect();
        json!({ "message": message, "fields": fields })
    };
    Some(News::Message(level, data))
}

/// Graver ones are higher.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

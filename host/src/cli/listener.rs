//! What happens during a call, on standard error: messages, chatter and progress.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use prx_host::model::{Event, EventSink, LogLevel, Progress};

use crate::cli::render::{Decoder, Screen, Tone};

/// Steps of a bar: progress is a fraction of these.
const STEPS: u32 = 1000;

/// Listens to one call.
#[derive(Clone)]
pub struct Listener {
    screen: Screen,
    /// Whether standard output is chatter; that of a command is the answer itself.
    shows_stdout: bool,
    shown: Arc<Mutex<Shown>>,
}

#[derive(Default)]
struct Shown {
    bar: Option<ProgressBar>,
    stdout: Decoder,
    stderr: Decoder,
}

impl Listener {
    /// A listener that writes to the screen.
    pub fn new(screen: Screen, shows_stdout: bool) -> Self {
        Self {
            screen,
            shows_stdout,
            shown: Arc::default(),
        }
    }

    /// The ear for the host.
    pub fn sink(&self) -> EventSink {
        let listener = self.clone();
        Arc::new(move |event| listener.hear(&event))
    }

    /// The call is over.
    pub fn finish(&self) {
        let mut shown = self.shown();
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
        let rest = shown.stdout.finish() + &shown.stderr.finish();
        self.chatter(&shown, &rest);
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, event: &Event<'_>) {
        let mut shown = self.shown();
        match event {
            Event::Log {
                level,
                message,
                fields,
            } if *level >= self.least_shown() => {
                self.above(&shown, || {
                    self.screen.note(&self.message(*level, message, fields));
                });
            }
            Event::Progress(progress) => self.progress(&mut shown, *progress),
            Event::Stdout(bytes) if self.shows_stdout => {
                let text = shown.stdout.push(bytes);
                self.chatter(&shown, &text);
            }
            Event::Stderr(bytes) => {
                let text = shown.stderr.push(bytes);
                self.chatter(&shown, &text);
            }
            _ => {}
        }
    }

    fn least_shown(&self) -> LogLevel {
        if self.screen.quiet() == 0 {
            LogLevel::Trace
        } else {
            LogLevel::Warn
        }
    }

    /// Writes above a bar, if there is one.
    fn above(&self, shown: &Shown, write: impl FnOnce()) {
        if self.screen.quiet() > 1 {
            return;
        }
        match &shown.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn chatter(&self, shown: &Shown, text: &str) {
        if self.screen.quiet() == 0 && !text.is_empty() {
            self.above(shown, || self.screen.note_raw(&self.screen.guest_err(text)));
        }
    }

    /// `[level] message key=value`; further lines of a message are indented, so that none
    /// looks like a message of its own.
    fn message(&self, level: LogLevel, message: &str, fields: &[(String, String)]) -> String {
        let tone = match level {
            LogLevel::Error => Tone::Error,
            LogLevel::Warn => Tone::Warning,
            LogLevel::Info => Tone::Good,
            _ => Tone::Faint,
        };
        let head = self
            .screen
            .paint_err(&format!("[{}]", level.as_str()), tone);
        let mut text = self.screen.guest_err(message);
        for (key, value) in fields {
            let plain = !value.is_empty()
                && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"');
            let value = if plain {
                value.clone()
            } else {
                format!("{value:?}")
            };
            let _ = write!(
                text,
                " {}={}",
                self.screen.guest_err(key),
                self.screen.guest_err(&value)
            );
        }
        format!("{head} {}", text.trim_end().replace('\n', "\n  "))
    }

    fn progress(&self, shown: &mut Shown, progress: Progress<'_>) {
        if !self.screen.err_is_terminal() || self.screen.quiet() > 0 {
            return;
        }
        let bar = shown.bar.get_or_insert_with(ProgressBar::no_length);
        let total = progress.total.filter(|total| *total > 0.0);
        let template = match total {
            Some(_) => "{bar:30} {percent:>3} % {msg}",
            None => "{spinner} {pos} {msg}",
        };
        // Before the first number: a bar draws itself when it is told one.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if let Some(message) = progress.message {
            bar.set_message(self.screen.guest_err(message).replace('\n', " "));
        }
        match total {
            Some(total) => {
                bar.set_length(STEPS.into());
                bar.set_position(whole(progress.done / total * f64::from(STEPS)).min(STEPS.into()));
            }
            None => bar.set_position(whole(progress.done)),
        }
    }
}

/// The whole number below; the guest's numbers may be any.
fn whole(number: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of what is out of range saturates, which is what a bar needs"
    )]
    let whole = number as u64;
    whole
}

//! How loading comes along, for a person at a terminal.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use prx_host::{LoadEvent, LoadListener};

use super::Screen;

/// Loading that is over before is not worth a line that flickers.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(80);

/// A listener that shows how many modules are compiled; `None` where nobody looks.
pub fn loading(screen: Screen) -> Option<LoadListener> {
    if !screen.err_is_terminal() || screen.json() || screen.quiet() > 0 {
        return None;
    }
    let (events, receiver) = mpsc::channel();
    let shown = std::thread::Builder::new()
        .name("prx-loading".into())
        .spawn(move || show(&receiver));
    shown.ok()?;
    let events = Mutex::new(events);
    Some(Arc::new(move |event| {
        if let Ok(events) = events.lock() {
            let _ = events.send(event);
        }
    }))
}

fn show(events: &mpsc::Receiver<LoadEvent>) {
    let (mut total, mut done) = (0, 0);
    let mut bar: Option<ProgressBar> = None;
    loop {
        match events.recv_timeout(if bar.is_some() { TICK } else { PATIENCE }) {
            Ok(LoadEvent::Started { modules }) => total = modules,
            Ok(LoadEvent::Loaded { .. }) => done += 1,
            Ok(LoadEvent::Finished) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if total > 0 => {
                bar.get_or_insert_with(spinner);
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(bar) = &bar {
            bar.set_message(format!("compiling modules, {done} of {total} done"));
            bar.tick();
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar
}

//! `prx-host watch`: a live view of the tools and of the hosts that serve them.

mod rates;
mod view;

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::Duration;

use prx_host::{Change, Host};
use serde_json::json;

use super::list::open_with;
use super::render::{Failure, Screen};
use super::{Exit, Global, facts, start};
use rates::Rates;
use view::{HISTORY, View};

#[derive(clap::Args)]
#[command(
    after_help = "On a terminal it shows a table that follows every change. Elsewhere it writes one
line for each change; with --json, one JSON value in each line.

Examples:
  prx-host watch
  prx-host watch --once
  prx-host watch --json | jq -c '{snapshot, changed, broken}'"
)]
pub struct Arguments {
    /// Show what there is now, and end.
    #[arg(long)]
    once: bool,
}

/// How often the numbers of calls are looked at.
const PACE: Duration = Duration::from_secs(1);

/// Runs the command.
pub fn run(arguments: &Arguments, global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    let environment = start::environment()?;
    let mut builder = Host::builder(config);
    if let Some(file) = prx_host::config::standard_file(&environment) {
        builder = builder.config_file(file);
    }
    start::block_on(async {
        let host = open_with(builder, screen).await?;
        match (arguments.once, screen.json(), screen.out_is_terminal()) {
            (true, true, _) => screen.print_json(&now(&host))?,
            (true, false, _) => {
                let view = View::new(&host, &mut Rates::default());
                screen.print(&view.text(screen))?;
            }
            (false, false, true) => live(&host, screen).await?,
            (false, json, _) => lines(&host, screen, json).await?,
        }
        Ok(Exit::Ok)
    })
}

/// Everything that there is, for programs.
fn now(host: &Host) -> serde_json::Value {
    let snapshot = host.snapshot();
    json!({
        "snapshot": snapshot.number(),
        "tools": snapshot.tools().map(|tool| facts::tool_json(tool)).collect::<Vec<_>>(),
        "broken": snapshot.broken(),
        "hosts": host.running(),
    })
}

/// A table that is drawn anew whenever something is new.
async fn live(host: &Host, screen: Screen) -> Result<(), Failure> {
    let mut interrupts = start::Interrupts::listen()?;
    let (_watching, mut changes) = (host.observe(), host.changes());
    let (mut rates, mut history) = (Rates::default(), VecDeque::new());
    let mut drawn = 0;
    loop {
        let view = View::new(host, &mut rates).with_history(history.iter());
        let text = view.text(screen);
        drawn = screen.draw_over(drawn, &text)?;
        let heard = tokio::select! {
            () = interrupts.recv() => return Ok(()),
            heard = tokio::time::timeout(PACE, changes.changed()) => heard,
        };
        if heard.is_ok() {
            history.push_front(changes.borrow_and_update().clone());
            history.truncate(HISTORY);
        }
    }
}

/// A line for each change.
async fn lines(host: &Host, screen: Screen, json: bool) -> Result<(), Failure> {
    let mut interrupts = start::Interrupts::listen()?;
    let mut changes = host.changes();
    changes.mark_changed();
    let _watching = host.observe();
    loop {
        tokio::select! {
            () = interrupts.recv() => return Ok(()),
            heard = changes.changed() => {
                if heard.is_err() {
                    return Ok(());
                }
            }
        }
        let change = changes.borrow_and_update().clone();
        let text = if json {
            serde_json::to_string(&*change).unwrap_or_default()
        } else {
            screen.guest_out(&line(&change))
        };
        // Who reads no more wants no more.
        if writeln!(std::io::stdout(), "{text}").is_err() {
            return Ok(());
        }
    }
}

/// A change in one line.
fn line(change: &Change) -> String {
    let mut parts = vec![format!(
        "{} snapshot {}",
        humantime::format_rfc3339_millis(change.at),
        change.snapshot
    )];
    for (word, names) in [
        ("added", &change.added),
        ("changed", &change.changed),
        ("removed", &change.removed),
    ] {
        if !names.is_empty() {
            parts.push(format!("{word} {}", names.join(" ")));
        }
    }
    parts.extend(change.broken.iter().map(|broken| {
        let serves = match broken.serving {
            Some(_) => " (the last good one serves)",
            None => "",
        };
        format!(
            "broken {}: {}{serves}",
            broken.name,
            broken.reason.replace('\n', " ")
        )
    }));
    parts.extend(change.needs_restart.iter().cloned());
    parts.push(format!("{} ms", change.took.as_millis()));
    parts.join("; ")
}

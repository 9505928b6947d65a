//! `prx-host doctor`: what works on this machine, and how to get what does not.

use prx_host::{Examination, Health, Notice, examine};

use super::render::{Failure, Line, Screen, Tone};
use super::{Exit, Global, start};

/// Say which backends and sandboxes work here, and how to get those that do not
#[derive(clap::Args)]
#[command(
    after_help = "Exit code 5: the backend that would run commands can not be used.

Examples:
  prx-host doctor
  prx-host doctor --json | jq '.backends[] | select(.usable | not).name'"
)]
pub struct Arguments {}

/// Runs the command.
pub fn run(global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let config = start::configuration(global, screen)?;
    let environment = start::environment()?;
    let found = start::block_on(async { Ok(examine(&config, &environment).await) })?;
    if screen.json() {
        screen.print_json(&found)?;
    } else {
        screen.print(&text(&found, screen))?;
    }
    Ok(if found.usable {
        Exit::Ok
    } else {
        Exit::Unavailable
    })
}

fn text(found: &Examination, screen: Screen) -> String {
    let selected = format!(
        "Commands without a type run on `{}`: {}.",
        found.selected, found.reason
    );
    let mut parts = vec![selected];
    for (heading, all) in [
        ("Backends and sandboxes", &found.backends),
        ("System", &found.system),
    ] {
        parts.push(screen.paint(heading, Tone::Heading));
        parts.extend(all.iter().map(|health| of_health(health, screen)));
    }
    if !found.hosts.is_empty() {
        parts.push(screen.paint("Running hosts", Tone::Heading));
        parts.extend(found.hosts.iter().map(|host| of_host(host, screen)));
    }
    parts.join("\n\n").replace("\n\n  ", "\n  ")
}

fn of_host(host: &Notice, screen: Screen) -> String {
    let what = format!(
        "process {}, snapshot {} since {}, {} tools",
        host.pid,
        host.snapshot,
        host.since,
        host.tools.len()
    );
    let mut lines: Vec<Line> = Vec::new();
    for broken in &host.broken {
        let serves = match &broken.serving {
            Some(serving) => format!(" (the last good version serves since {})", serving.since),
            None => String::new(),
        };
        lines.push((
            "cause",
            format!("{}: {}{serves}", broken.name, broken.reason),
        ));
    }
    lines.extend(host.needs_restart.iter().map(|what| ("note", what.clone())));
    let (head, tone) = if lines.is_empty() {
        ("works", Tone::Good)
    } else {
        ("faulty", Tone::Warning)
    };
    screen.block(head, tone, &what, &lines)
}

fn of_health(health: &Health, screen: Screen) -> String {
    let (head, tone) = if health.usable {
        ("works", Tone::Good)
    } else {
        ("missing", Tone::Warning)
    };
    let what = match &health.version {
        Some(version) => format!("{}, {version}", health.name),
        None => health.name.to_owned(),
    };
    let label = if health.usable { "note" } else { "cause" };
    let mut lines: Vec<Line> = health
        .notes
        .iter()
        .map(|note| (label, note.clone()))
        .collect();
    lines.extend(health.help.clone().map(|help| ("help", help)));
    screen.block(head, tone, &what, &lines)
}

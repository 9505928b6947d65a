//! `prx-host doctor`: what works on this machine, and how to get what does not.

use prx_host::config::Config;
use prx_host::{Examination, Health, Notice, examine};

use super::render::{Failure, Line, Screen, Tone};
use super::{Exit, Global, start};

#[derive(clap::Args)]
#[command(
    after_help = "Exit code 5: the backend that would run commands can not be used; 2: the configuration can
not be read, and the machine was looked at with the defaults.

Examples:
  prx-host doctor
  prx-host doctor --json | jq '.backends[] | select(.usable | not).name'"
)]
pub struct Arguments {}

/// Runs the command.
pub fn run(global: &Global, screen: Screen) -> Result<Exit, Failure> {
    let environment = start::environment()?;
    let discovered = start::discover(global, &environment)?;
    let (config, fault) = match Config::load(&discovered, &environment) {
        Ok(loaded) => {
            start::warn(&loaded.warnings, global, screen);
            (loaded.config, None)
        }
        // Who mends a configuration wants to know what the machine has all the same.
        Err(faults) => match Config::default_with(&environment) {
            Ok(mut loaded) => {
                // Its hosts go on with what they had.
                loaded.config.file.clone_from(&discovered.file);
                (loaded.config, Some(faults))
            }
            Err(_) => return Err(Failure::of_faults(faults)),
        },
    };
    let found = start::block_on(async { Ok(examine(&config, &environment).await) })?;
    if screen.json() {
        let mut json = serde_json::to_value(&found).unwrap_or_default();
        json["configuration_fault"] = fault.as_ref().map(ToString::to_string).into();
        screen.print_json(&json)?;
    } else {
        let mut parts: Vec<String> = fault.iter().map(|_| of_fault(screen)).collect();
        parts.push(text(&found, screen));
        screen.print(&parts.join("\n\n"))?;
    }
    if let Some(faults) = fault {
        if !screen.json() {
            screen.note(&faults.render(screen.colours_on_stderr()));
        }
        return Ok(Exit::Usage);
    }
    Ok(if found.usable {
        Exit::Ok
    } else {
        Exit::Unavailable
    })
}

/// Says that what follows is not about the operator's own configuration.
fn of_fault(screen: Screen) -> String {
    let lines = [
        ("cause", "its faults are on standard error".to_owned()),
        (
            "help",
            "correct it and ask again; `prx-host check` says more".to_owned(),
        ),
    ];
    let what = "the configuration can not be used: what follows holds for the defaults";
    screen.block("error", Tone::Error, what, &lines)
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

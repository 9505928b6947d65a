//! What a person sees before a module is installed.

use std::fmt::Write as _;

use prx_host::install::Candidate;
use prx_host::model::{Shown as _, format_bytes};

use super::plan::{Entry, Plan};
use crate::cli::granted;
use crate::cli::render::{Screen, Tone, columns, indented};

/// The whole sheet, for standard output.
pub fn text(plan: &Plan<'_>, screen: Screen) -> String {
    let mut parts = vec![module(plan.candidate)];
    if let Some(replaced) = plan.replaced_in_words() {
        parts.push(screen.block("warning", Tone::Warning, &replaced, &[]));
    }
    for entry in &plan.entries {
        parts.push(tools(entry, screen));
        parts.push(requests(entry, screen));
        parts.push(grants(entry, screen));
        if let Some(lines) = &entry.lines {
            parts.push(to_grant(plan, lines, screen));
        }
        parts.extend(warnings(entry, screen));
    }
    parts.retain(|part| !part.is_empty());
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    parts.join("\n\n")
}

fn module(candidate: &Candidate) -> String {
    let inspection = candidate.inspection();
    let mut rows = vec![vec!["file".to_owned(), inspection.path.shown().to_string()]];
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    if let Some(found) = &inspection.descriptor {
        row("kind", found.in_words());
    }
    row("size", format_bytes(inspection.size));
    row("sha-256", inspection.digest.clone());
    let mut place = candidate.destination().shown().to_string();
    if candidate.is_folder_missing() {
        place.push_str(" (the folder will be made)");
    }
    row("goes to", place);
    columns(&rows)
}

fn tools(entry: &Entry, screen: Screen) -> String {
    let served = &entry.served;
    let mut heading = format!("tools of {}", served.entry);
    if let Some(place) = &served.place {
        let _ = write!(heading, ", which stands in {place}");
    }
    let mut text = screen.paint(&heading, Tone::Heading);
    let rows: Vec<Vec<String>> = served
        .tools
        .iter()
        .map(|(name, spec)| {
            let first = spec.description.lines().next().unwrap_or_default();
            vec![name.clone(), first.to_owned()]
        })
        .collect();
    let rows = if rows.is_empty() {
        "none".to_owned()
    } else {
        columns(&rows)
    };
    let _ = write!(text, "\n{}", indented(&screen.guest_out(&rows), 2));
    text
}

fn requests(entry: &Entry, screen: Screen) -> String {
    let heading = format!("requested by {} and granted", entry.served.entry);
    let heading = screen.paint(&heading, Tone::Heading);
    format!("{heading}\n{}", granted::table(&entry.asked, screen))
}

/// What it gets, as wide as it is.
fn grants(entry: &Entry, screen: Screen) -> String {
    let when = match entry.served.switched_off {
        Some(_) => "when it is switched on",
        None => "at once",
    };
    let heading = format!("granted to {} {when}", entry.served.entry);
    let mut rows: Vec<Vec<String>> = entry
        .granted
        .iter()
        .map(|(what, key)| vec![what.clone(), key.clone()])
        .collect();
    rows.extend(entry.settings_in_words().map(|settings| vec![settings]));
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "{}\n{}",
        screen.paint(&heading, Tone::Warning),
        indented(&screen.guest_out(&columns(&rows)), 2)
    )
}

fn to_grant(plan: &Plan<'_>, lines: &str, screen: Screen) -> String {
    let heading = format!("to grant the rest, {} needs these lines", plan.config_file);
    format!(
        "{}\n{}",
        screen.paint(&heading, Tone::Help),
        indented(&screen.guest_out(lines), 2)
    )
}

fn warnings(entry: &Entry, screen: Screen) -> Vec<String> {
    let served = &entry.served;
    let off = served.switched_off.iter().map(|key| {
        let what = format!("`{}` is switched off by {key}", served.entry);
        screen.block("warning", Tone::Warning, &what, &[])
    });
    let broken = served.broken.iter().map(|one| {
        let mut lines = vec![("cause", one.reason.clone())];
        lines.extend(one.help.clone().map(|help| ("help", help)));
        let what = format!("`{}` could not be called", served.entry);
        screen.block("warning", Tone::Warning, &what, &lines)
    });
    off.chain(broken).collect()
}

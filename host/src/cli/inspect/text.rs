//! What was found of a module, for people.

use std::fmt::Write as _;

use prx_host::model::{Shown as _, format_bytes};
use prx_host::{Inspection, Shape};

use super::module::{Shown, encoding_in_words};
use super::sheet::{limits, pair, tool};
use crate::cli::granted::{self, Asked};
use crate::cli::render::{Screen, Tone, columns, indented};

/// The whole report.
pub fn text(shown: &Shown<'_>, screen: Screen) -> String {
    let mut parts = vec![file(shown.inspection)];
    if let Some(fault) = &shown.inspection.fault {
        let mut lines = vec![("cause", fault.to_string())];
        lines.extend(fault.help().map(|help| ("help", help.to_owned())));
        parts.push(screen.block("error", Tone::Error, "this file can not serve", &lines));
    }
    if let Some(shape) = &shown.inspection.shape {
        parts.push(exports(shape, screen));
        parts.push(imports(shape, screen));
    }
    for (name, spec) in shown.specs() {
        parts.push(tool(name, spec, screen));
    }
    if let Some(asked) = &shown.asked {
        parts.push(grants(asked, screen));
    }
    if let Some(first) = shown.tools.first() {
        parts.push(limits(first.entry(), screen));
    }
    parts.retain(|part| !part.is_empty());
    parts
        .iter()
        .map(|part| part.trim_end())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn file(inspection: &Inspection) -> String {
    let mut rows = vec![pair("file", inspection.path.shown().to_string())];
    match (&inspection.descriptor, &inspection.shape) {
        (Some(found), _) => rows.push(pair("kind", found.in_words())),
        (None, Some(shape)) => rows.push(pair("kind", encoding_in_words(shape.encoding).into())),
        (None, None) => {}
    }
    if !inspection.digest.is_empty() {
        rows.push(pair("size", format_bytes(inspection.size)));
        rows.push(pair("sha-256", inspection.digest.clone()));
    }
    if let Some(found) = &inspection.descriptor {
        let milliseconds = found.compile_time.as_millis();
        let when = if inspection.from_cache {
            "earlier, now in the cache"
        } else {
            "now"
        };
        let size = format_bytes(found.code_bytes);
        rows.push(pair(
            "compiled",
            format!("{size} in {milliseconds} ms, {when}"),
        ));
    }
    columns(&rows)
}

fn exports(shape: &Shape, screen: Screen) -> String {
    if shape.exports.is_empty() {
        return String::new();
    }
    let names: Vec<String> = shape.exports.iter().map(ToString::to_string).collect();
    format!(
        "{}\n{}",
        screen.paint("exports", Tone::Heading),
        indented(&names.join("\n"), 2)
    )
}

fn imports(shape: &Shape, screen: Screen) -> String {
    let offers = shape.offers();
    if offers.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = offers
        .into_iter()
        .map(|offer| {
            let asked = offer.asked.unwrap_or_else(|| "-".into());
            let offered = match (offer.offered, offer.served) {
                (Some(version), true) => format!("offered {version}"),
                (Some(version), false) => format!("MISSING: offered only in {version}"),
                (None, _) => "MISSING".into(),
            };
            vec![
                offer.name.shown().to_string(),
                asked.shown().to_string(),
                offered,
            ]
        })
        .collect();
    format!(
        "{}\n{}",
        screen.paint("imports", Tone::Heading),
        indented(&columns(&rows), 2)
    )
}

fn grants(asked: &[Asked], screen: Screen) -> String {
    let heading = screen.paint("requested and granted", Tone::Heading);
    let mut text = format!("{heading}\n{}", granted::table(asked, screen));
    for help in asked
        .iter()
        .filter_map(|one| Some((&one.capability, one.help.as_ref()?)))
    {
        let _ = writeln!(
            text,
            "  {} {}: {}",
            screen.paint("help:", Tone::Help),
            help.0,
            help.1
        );
    }
    text
}

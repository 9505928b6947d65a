//! `prx-host config show`: effective values, table by table, each with its origin.

use std::fmt::Write as _;

use prx_host::config::{Config, EffectiveKey, Origin};
use serde_json::Value;

use crate::cli::Exit;
use crate::cli::render::{Failure, Screen, Tone};

/// Characters of a value after which its origin no longer lines up with the others.
const ALIGNED: usize = 48;

pub(super) fn run(config: &Config, screen: Screen) -> Result<Exit, Failure> {
    let keys = config.effective();
    if screen.json() {
        screen.print_json(&keys)?;
    } else {
        screen.print(&text(&keys, screen))?;
    }
    Ok(Exit::Ok)
}

fn text(keys: &[EffectiveKey], screen: Screen) -> String {
    let mut text = String::new();
    let mut rest = keys;
    while let Some(first) = rest.first() {
        let table = split(&first.key).0;
        let length = rest
            .iter()
            .take_while(|key| split(&key.key).0 == table)
            .count();
        let (group, after) = rest.split_at(length);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&screen.paint(&format!("[{table}]"), Tone::Heading));
        text.push('\n');
        push_group(&mut text, group, screen);
        rest = after;
    }
    text
}

fn push_group(text: &mut String, group: &[EffectiveKey], screen: Screen) {
    let lines: Vec<String> = group
        .iter()
        .map(|key| format!("{} = {}", split(&key.key).1, written(&key.value)))
        .collect();
    let lengths = lines.iter().map(|line| line.chars().count());
    let width = lengths
        .filter(|length| *length <= ALIGNED)
        .max()
        .unwrap_or(0);
    for (line, key) in lines.iter().zip(group) {
        let gap = width.saturating_sub(line.chars().count()) + 2;
        let origin = screen.paint(
            &format!("# {}", key.origin),
            match key.origin {
                Origin::Default => Tone::Faint,
                Origin::Written(_) => Tone::Good,
            },
        );
        let _ = writeln!(text, "{line}{}{origin}", " ".repeat(gap));
    }
}

/// The table of a key, and its last part. A quoted part may have dots.
fn split(key: &str) -> (&str, &str) {
    let end = match key.strip_suffix('"').and_then(|inner| inner.rfind(".\"")) {
        Some(dot) => Some(dot),
        None => key.rfind('.'),
    };
    end.map_or(("", key), |dot| (&key[..dot], &key[dot + 1..]))
}

/// A value as TOML has it.
fn written(value: &Value) -> String {
    if value.is_null() {
        return "(not set)".into();
    }
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        // JSON can say `null` inside of a value, TOML can not.
        Err(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_split_at_their_last_dot_outside_of_quotes() {
        for (key, table, name) in [
            ("runtime.backend", "runtime", "backend"),
            (
                "tools.custom.\"a.b\".module",
                "tools.custom.\"a.b\"",
                "module",
            ),
            (
                "runtime.native.env.\"A.B\"",
                "runtime.native.env",
                "\"A.B\"",
            ),
            ("alone", "", "alone"),
        ] {
            assert_eq!(split(key), (table, name));
        }
    }
}

//! Prometheus' text format, version 0.0.4: families of samples, written one after the other.
//!
//! Invariant: what is written is well formed, whatever names and texts are given: each
//! family has its HELP and TYPE line once, before its samples, and values are escaped.

use std::fmt::{Display, Write as _};

/// Text that is being written.
#[derive(Default)]
pub(super) struct Exposition(String);

/// One family of samples.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Exposition {
    /// Begins a family. `kind` is `counter`, `gauge` or `histogram`.
    pub fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        let text = &mut self.0;
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { text, name }
    }

    /// A family of one number that can go down.
    pub fn gauge(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.family(name, "gauge", help).sample("", &[], value);
    }

    /// A family of one number that only grows.
    pub fn counter(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.family(name, "counter", help).sample("", &[], value);
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.0
    }
}

impl Family<'_> {
    /// One sample; `suffix` is that of a part of a histogram, or empty.
    pub fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        for (index, (name, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(value));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{after} {value}");
    }
}

fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text
}

//! Why a command did not do its work: what, why, and what to do.

use std::fmt::Write as _;

use prx_host::config::Faults;
use prx_host::model::Shown as _;
use serde_json::{Map, Value, json};

use super::{Tone, paint, safe};
use crate::cli::Exit;

/// A line below a message: its label and its text.
pub type Line = (&'static str, String);

/// Why a command did not do its work.
#[derive(Debug)]
pub struct Failure(Box<Parts>);

#[derive(Debug)]
struct Parts {
    exit: Exit,
    what: String,
    lines: Vec<Line>,
    details: Map<String, Value>,
    faults: Option<Faults>,
}

impl Failure {
    /// A failure in one line: lower case, names in backticks.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        let (what, lines, details) = (what.into(), Vec::new(), Map::new());
        Self(Box::new(Parts {
            exit,
            what,
            lines,
            details,
            faults: None,
        }))
    }

    /// The configuration has these faults.
    pub fn of_faults(faults: Faults) -> Self {
        let mut failure = Self::new(Exit::Usage, "the configuration can not be used");
        failure.0.faults = Some(faults);
        failure
    }

    /// Why.
    pub fn cause(self, cause: impl Into<String>) -> Self {
        self.line("cause", cause)
    }

    /// What to do.
    pub fn help(self, help: impl Into<String>) -> Self {
        self.line("help", help)
    }

    /// What to do, where there is something to say.
    pub fn help_if_any(self, help: Option<impl Into<String>>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    /// One more line under a label of its own.
    pub fn line(mut self, label: &'static str, text: impl Into<String>) -> Self {
        self.0.lines.push((label, text.into()));
        self
    }

    /// Something that only programs want to know.
    pub fn detail(mut self, name: &str, value: Value) -> Self {
        self.0.details.insert(name.to_owned(), value);
        self
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.0.exit
    }

    /// The failure for people. What a guest may have written is made harmless on a
    /// terminal.
    pub fn render(&self, terminal: bool, colours: bool) -> String {
        if let Some(faults) = &self.0.faults {
            return faults.render(colours);
        }
        block(
            "error",
            Tone::Error,
            &self.0.what,
            &self.0.lines,
            terminal,
            colours,
        )
    }

    /// The failure for programs.
    pub fn json(&self) -> Value {
        json!({ "error": self.json_error() })
    }

    /// What stands under `error` there.
    pub fn json_error(&self) -> Value {
        let mut error = Map::new();
        error.insert("message".into(), json!(self.0.what));
        let of = |label| {
            self.0
                .lines
                .iter()
                .filter(move |line| line.0 == label)
                .map(|line| &line.1)
        };
        let causes: Vec<&String> = of("cause").collect();
        if !causes.is_empty() {
            error.insert("causes".into(), json!(causes));
        }
        if let Some(help) = of("help").next() {
            error.insert("help".into(), json!(help));
        }
        error.extend(self.0.details.clone());
        if let Some(faults) = &self.0.faults {
            error.insert("faults".into(), json!(faults));
        }
        error.insert("exit_code".into(), json!(self.0.exit as u8));
        Value::Object(error)
    }
}

/// The house's form of a message: a line that says what, and indented lines below it.
pub fn block(
    head: &str,
    tone: Tone,
    what: &str,
    lines: &[Line],
    terminal: bool,
    colours: bool,
) -> String {
    let shown = |text: &str| {
        if terminal {
            safe(text)
        } else {
            text.to_owned()
        }
    };
    let mut text = paint(&format!("{head}:"), tone, colours);
    text.push(' ');
    // A line of its own would be taken for another message.
    let _ = write!(text, "{}", what.shown());
    for (label, line) in lines {
        let tone = if *label == "help" {
            Tone::Help
        } else {
            Tone::Heading
        };
        // What goes over several lines stays under its label.
        let indent = format!("\n{}", " ".repeat(label.len() + 4));
        let line = shown(line).trim_end().replace('\n', &indent);
        let _ = write!(
            text,
            "\n  {} {line}",
            paint(&format!("{label}:"), tone, colours)
        );
    }
    text
}

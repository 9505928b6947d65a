//! The one place that writes to the standard streams, and the looks of what is written.
//!
//! Invariant: text of a guest reaches a terminal only through [`safe`], and a reader of
//! standard output that has gone ends nothing but the writing.

mod failure;
mod loading;
mod safe;
mod table;

use std::io::{self, IsTerminal as _, Write as _};

use owo_colors::Style;
use serde::Serialize;

use super::Exit;

pub use failure::{Failure, Line};
pub use loading::loading;
pub use safe::{Decoder, safe};
pub use table::{columns, indented, table};

/// `--color`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Colours {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The standard streams and how they want to be written to.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    json: bool,
    quiet: u8,
    out: Stream,
    err: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    terminal: bool,
    colours: bool,
}

impl Stream {
    fn new(terminal: bool, colours: Colours) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = match colours {
            Colours::Always => true,
            Colours::Never => false,
            Colours::Auto => terminal && !set("NO_COLOR") && !dumb,
        };
        Self { terminal, colours }
    }
}

/// What a text is, for its colour.
#[derive(Clone, Copy, Debug)]
pub enum Tone {
    /// The heading of a part.
    Heading,
    /// Something is as it should be.
    Good,
    /// Something needs attention.
    Warning,
    /// Something is wrong.
    Error,
    /// What to do.
    Help,
    /// Less important.
    Faint,
}

impl Tone {
    fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Heading => style.bold(),
            Self::Good => style.green(),
            Self::Warning => style.yellow().bold(),
            Self::Error => style.red().bold(),
            Self::Help => style.cyan(),
            Self::Faint => style.dimmed(),
        }
    }
}

fn paint(text: &str, tone: Tone, colours: bool) -> String {
    if colours {
        tone.style().style(text).to_string()
    } else {
        text.to_owned()
    }
}

#[allow(clippy::unused_self, reason = "who holds no screen writes nothing")]
impl Screen {
    /// Looks at the process's streams.
    pub fn new(colours: Colours, json: bool, quiet: u8) -> Self {
        Self {
            json,
            quiet,
            out: Stream::new(io::stdout().is_terminal(), colours),
            err: Stream::new(io::stderr().is_terminal(), colours),
        }
    }

    /// One on which what is laid out for standard output goes to standard error, with
    /// [`Screen::note`].
    #[cfg(feature = "wasm-runtime")]
    pub fn of_stderr(self) -> Self {
        Self {
            out: self.err,
            ..self
        }
    }

    /// Whether results are wanted as JSON.
    pub fn json(self) -> bool {
        self.json
    }

    /// How often `-q` was given.
    pub fn quiet(self) -> u8 {
        self.quiet
    }

    /// Whether a person looks at standard output.
    pub fn out_is_terminal(self) -> bool {
        self.out.terminal
    }

    /// Whether a person looks at standard error.
    pub fn err_is_terminal(self) -> bool {
        self.err.terminal
    }

    /// Whether standard error has colours.
    pub fn colours_on_stderr(self) -> bool {
        self.err.colours
    }

    /// Whether standard output has colours.
    pub fn colours_on_stdout(self) -> bool {
        self.out.colours
    }

    /// A text in its colour, for standard output.
    pub fn paint(self, text: &str, tone: Tone) -> String {
        paint(text, tone, self.out.colours)
    }

    /// A text in its colour, for standard error.
    pub fn paint_err(self, text: &str, tone: Tone) -> String {
        paint(text, tone, self.err.colours)
    }

    /// A guest's text for standard output.
    pub fn guest_out(self, text: &str) -> String {
        if self.out.terminal {
            safe(text)
        } else {
            text.to_owned()
        }
    }

    /// A guest's text for standard error.
    pub fn guest_err(self, text: &str) -> String {
        if self.err.terminal {
            safe(text)
        } else {
            text.to_owned()
        }
    }

    /// A message in the house's form, for standard output.
    pub fn block(self, head: &str, tone: Tone, what: &str, lines: &[Line]) -> String {
        failure::block(head, tone, what, lines, self.out.terminal, self.out.colours)
    }

    /// Writes to standard output.
    pub fn write(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
                Exit::Unavailable,
                "standard output can not be written",
            )
            .cause(error.to_string())),
            _ => Ok(()),
        }
    }

    /// Writes a text to standard output, with a newline at its end.
    pub fn print(self, text: &str) -> Result<(), Failure> {
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        self.write(format!("{text}{newline}").as_bytes())
    }

    /// Writes a text over what was drawn before, which has that many lines; answers how
    /// many lines it has now. For terminals.
    pub fn draw_over(self, drawn: usize, text: &str) -> Result<usize, Failure> {
        let height = table::height();
        let lines: Vec<&str> = text.lines().take(height).collect();
        // Up, then each line to its end, then whatever was below; a line that is too long
        // is cut, for it would be two.
        let mut all = match drawn {
            0 => String::new(),
            drawn => format!("\x1b[{drawn}A\r"),
        };
        all.push_str("\x1b[?7l");
        for line in &lines {
            all.push_str(line);
            all.push_str("\x1b[K\n");
        }
        all.push_str("\x1b[J\x1b[?7h");
        self.write(all.as_bytes())?;
        Ok(lines.len())
    }

    /// Writes a value as JSON to standard output.
    pub fn print_json(self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(|error| {
            Failure::new(Exit::Internal, "the result can not be written as JSON")
                .cause(error.to_string())
        })?;
        self.print(&text)
    }

    /// Writes a text to standard error, with a newline at its end. Nobody can be told
    /// when that fails.
    pub fn note(self, text: &str) {
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        let _ = io::stderr()
            .lock()
            .write_all(format!("{text}{newline}").as_bytes());
    }

    /// Writes a text to standard error as it is.
    pub fn note_raw(self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Tells of a failure where it is expected: as JSON on standard output, or as text on
    /// standard error.
    pub fn fail(self, failure: &Failure) -> Exit {
        if self.json {
            if let Err(unwritten) = self.print_json(&failure.json()) {
                self.note(&unwritten.render(self.err.terminal, self.err.colours));
            }
        } else {
            self.note(&failure.render(self.err.terminal, self.err.colours));
        }
        failure.exit()
    }
}

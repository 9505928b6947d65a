//! Tools made of commands: from the arguments of a call to what a backend runs.
//!
//! Pure: it starts nothing and knows no backend. The invariant of the whole folder: a
//! value of a call fills its own place and never splits, joins a shell line, or becomes
//! an option where the operator's template does not mean it.

mod fill;
mod parameters;
mod template;

use serde_json::Value;

pub use parameters::{ParameterError, Parameters};
pub use template::{ArgumentGroup, Piece};

/// How a tool uses the program that it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandTemplate {
    /// What runs.
    pub program: ProgramTemplate,
    /// What the program reads.
    pub stdin: Stdin,
    /// What its standard output is.
    pub output: OutputFormat,
    /// Exit codes that are no failure.
    pub success_codes: Vec<i32>,
}

/// What runs, before the arguments of a call are known.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramTemplate {
    /// A line for the shell, in the operator's words and in nobody else's.
    Line(String),
    /// A program with arguments.
    Direct {
        /// Its name or path.
        program: String,
        /// Its arguments.
        arguments: Vec<ArgumentGroup>,
    },
    /// The argument of this name is the whole line for the shell.
    CallersLine(&'static str),
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Closed,
    /// All arguments of the call, as one JSON object.
    Json,
    /// A text with values of the call in it; nothing where one of them is absent.
    Text(Piece),
}

/// What a program's standard output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// Text for people and models.
    #[default]
    Text,
    /// One JSON value: the structured answer.
    Json,
}

/// A command that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledCommand {
    /// A line for the shell, or a program.
    pub command: String,
    /// Each is one argument of the program; `None`: the command is a line for the shell.
    pub arguments: Option<Vec<String>>,
    /// Standard input.
    pub stdin: Option<Vec<u8>>,
}

impl CommandTemplate {
    /// The parameters that stand somewhere in the template, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let groups = self.program.groups().iter().flat_map(ArgumentGroup::names);
        let stdin = match &self.stdin {
            Stdin::Text(piece) => Some(piece.names()),
            Stdin::Closed | Stdin::Json => None,
        };
        for name in groups.chain(stdin.into_iter().flatten()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl ProgramTemplate {
    fn groups(&self) -> &[ArgumentGroup] {
        match self {
            Self::Direct { arguments, .. } => arguments,
            Self::Line(_) | Self::CallersLine(_) => &[],
        }
    }
}

/// The schema of a program that takes whatever arguments a caller gives it.
pub fn any_arguments(program: &str) -> (Parameters, CommandTemplate) {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "args": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The arguments of the program, one by one."
            },
            "stdin": { "type": "string", "description": "What the program reads." }
        },
        "additionalProperties": false
    });
    let template = CommandTemplate {
        program: ProgramTemplate::Direct {
            program: program.to_owned(),
            arguments: vec![ArgumentGroup(vec![Piece::parse("{-args}")])],
        },
        stdin: Stdin::Text(Piece::parse("{stdin}")),
        output: OutputFormat::Text,
        success_codes: vec![0],
    };
    (Parameters::of_schema(schema), template)
}

/// The schema of a shell: a line that the caller writes.
pub fn any_line() -> (Parameters, CommandTemplate) {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "description": "The line for the shell."
            },
            "stdin": { "type": "string", "description": "What the line reads." }
        },
        "required": ["command"],
        "additionalProperties": false
    });
    let template = CommandTemplate {
        program: ProgramTemplate::CallersLine("command"),
        stdin: Stdin::Text(Piece::parse("{stdin}")),
        output: OutputFormat::Text,
        success_codes: vec![0],
    };
    (Parameters::of_schema(schema), template)
}

/// A value as a program sees it: text as it is, everything else as JSON.
fn rendered(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

//! The keys of a tool that is made of a command: what it is given, and how it answers.

use std::collections::BTreeSet;

use serde_json::Value;
use toml::de::DeValue;

use crate::command::{ArgumentGroup, OutputFormat, Parameters, Piece, Stdin};
use crate::config::fault::Fault;
use crate::config::reader::{Entry, Table};
use crate::config::{Setting, suggest};
use crate::schema;

/// What stands in the table of a tool about its command.
pub(super) struct CommandKeys {
    pub args: Setting<Vec<ArgumentGroup>>,
    pub stdin: Setting<Stdin>,
    pub output: Setting<OutputFormat>,
    pub success_exit_codes: Setting<Vec<i32>>,
    pub parameters: Option<Setting<Parameters>>,
}

/// Reads the keys, and checks that each place in a template has a parameter.
pub(super) fn read(table: &Table<'_>) -> CommandKeys {
    let args_entry = table.entry("args");
    let stdin_entry = table.entry("stdin");
    let keys = CommandKeys {
        args: table.setting("args", Vec::new(), |entry| {
            entry.list("strings", argument_group)
        }),
        stdin: table.setting("stdin", Stdin::Closed, stdin),
        output: table.setting("output", OutputFormat::Text, |entry| {
            entry.choice(&[("text", OutputFormat::Text), ("json", OutputFormat::Json)])
        }),
        success_exit_codes: table.setting("success_exit_codes", vec![0], exit_codes),
        parameters: table.optional("parameters", parameters),
    };
    if let Some(parameters) = &keys.parameters {
        if let Some(entry) = &args_entry {
            let groups = keys.args.value.iter();
            check_places(entry, groups.flat_map(|group| &group.0), &parameters.value);
        }
        if let (Some(entry), Stdin::Text(piece)) = (&stdin_entry, &keys.stdin.value) {
            check_places(entry, std::iter::once(piece), &parameters.value);
        }
        if let Some(command) = table.entry("command")
            && keys.args.value.is_empty()
        {
            check_shell_line(&command, &parameters.value);
        }
    }
    keys
}

fn argument_group(item: &Entry<'_>) -> Option<ArgumentGroup> {
    if let DeValue::Array(_) = item.value {
        return item.list("strings", argument).map(ArgumentGroup);
    }
    argument(item).map(|piece| ArgumentGroup(vec![piece]))
}

fn argument(item: &Entry<'_>) -> Option<Piece> {
    let text = item.text()?;
    if text.contains('\0') {
        item.report(Fault::error("an argument must not contain NUL"));
    }
    Some(Piece::parse(text))
}

fn stdin(entry: &Entry<'_>) -> Option<Stdin> {
    let text = entry.text()?;
    let piece = Piece::parse(text);
    match text {
        "none" => Some(Stdin::Closed),
        "json" => Some(Stdin::Json),
        _ if piece.names().next().is_some() => Some(Stdin::Text(piece)),
        _ => {
            entry.report(
                Fault::error(format!("`{}` has an unknown value", entry.key))
                    .because("it is `\"none\"`, `\"json\"` or a text with a `{name}` in it")
                    .help("write `\"json\"` to hand over all arguments as one JSON object"),
            );
            None
        }
    }
}

fn exit_codes(entry: &Entry<'_>) -> Option<Vec<i32>> {
    let codes = entry.list("integers", |item| {
        item.whole(&(0..=255), "exit code")
            .and_then(|code| i32::try_from(code).ok())
    })?;
    if codes.is_empty() {
        entry.report(
            Fault::error(format!("`{}` is empty", entry.key))
                .because("no end of the command would be a success")
                .help("write `[0]`, or remove the key"),
        );
    }
    Some(codes)
}

fn parameters(entry: &Entry<'_>) -> Option<Parameters> {
    let written = entry.json_object()?;
    match Parameters::read(&written) {
        Ok(parameters) => {
            if let Err(why) = schema::check(parameters.schema()) {
                entry.report(
                    Fault::error(format!("`{}` can not be used", entry.key))
                        .because(format!("as a JSON Schema it {why}"))
                        .help("correct the schema; the short form is `name = { type = \"string\", required = true }`"),
                );
                return None;
            }
            check_defaults(entry, &parameters);
            Some(parameters)
        }
        Err(errors) => {
            for error in errors {
                entry.report(
                    Fault::error(format!("`{}` can not be used", entry.key))
                        .because(error.message)
                        .help(error.help),
                );
            }
            None
        }
    }
}

/// A default must itself be what a caller might give.
fn check_defaults(entry: &Entry<'_>, parameters: &Parameters) {
    for (name, value) in parameters.defaults() {
        let property = &parameters.schema()["properties"][name.as_str()];
        let fits = schema::Validator::new(property).is_ok_and(|fits| fits.validate(value).is_ok());
        if !fits {
            entry.report(
                Fault::error(format!(
                    "`{}.{name}` has a default that does not fit it",
                    entry.key
                ))
                .because(format!("{value} is not what its schema allows"))
                .help("correct the default or the schema"),
            );
        }
    }
}

/// Each place needs a parameter of its name, and a flag a boolean.
fn check_places<'p>(
    entry: &Entry<'_>,
    pieces: impl Iterator<Item = &'p Piece>,
    parameters: &Parameters,
) {
    let known: BTreeSet<&str> = parameters.names().collect();
    let mut told = BTreeSet::new();
    for piece in pieces {
        for name in piece.names() {
            if known.contains(name) || !told.insert(name.to_owned()) {
                continue;
            }
            let help = match suggest::nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{{{near}}}`?"),
                None => format!(
                    "add `{name}` to `parameters`, or write `{{{{{name}}}}}` for the text itself"
                ),
            };
            entry.report(
                Fault::error(format!("`{}` names an unknown parameter", entry.key))
                    .because(format!("`{piece}` has a place for `{name}`"))
                    .help(help),
            );
        }
        if let Some(name) = piece.flag()
            && known.contains(name)
            && parameters.kind(name) != Some("boolean")
        {
            entry.report(
                Fault::error(format!("`{}` has a flag that is no boolean", entry.key))
                    .because(format!("`{piece}` stands or falls with `{name}`"))
                    .help(format!("give `{name}` the type \"boolean\"")),
            );
        }
    }
}

/// A value never becomes part of a line that a shell reads.
fn check_shell_line(command: &Entry<'_>, parameters: &Parameters) {
    let DeValue::String(line) = command.value else {
        return;
    };
    let piece = Piece::parse(line);
    let known: Vec<&str> = parameters.names().collect();
    let Some(name) = piece.names().find(|name| known.contains(name)) else {
        return;
    };
    command.report(
        Fault::error(format!("`{}` would put `{name}` into a line of the shell", command.key))
            .because("without `args` the command is a shell line, in which a value could run anything")
            .help(format!(
                "write the program as `command` and its arguments as `args`, or hand the value over: `command = \"/bin/sh\"`, `args = [\"-c\", \"... \\\"$1\\\" ...\", \"sh\", \"{{{name}}}\"]`"
            )),
    );
}

/// As JSON, for what is in force.
pub(in crate::config) fn written(groups: &[ArgumentGroup]) -> Value {
    let text = |piece: &Piece| Value::from(piece.to_string());
    groups
        .iter()
        .map(|group| match group.0.as_slice() {
            [piece] => text(piece),
            pieces => pieces.iter().map(text).collect(),
        })
        .collect()
}

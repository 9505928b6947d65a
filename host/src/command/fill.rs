//! Filling a template with the arguments of one call.

use serde_json::{Map, Value};

use super::template::{ArgumentGroup, Part, Piece};
use super::{CommandTemplate, FilledCommand, Parameters, ProgramTemplate, Stdin, rendered};
use crate::model::ArgumentFault;

/// Bytes of one argument: Linux takes no more (`MAX_ARG_STRLEN`, with its NUL).
const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;

impl CommandTemplate {
    /// Fills the template. `arguments` fit the schema of `parameters`; what is absent or
    /// null there has its default, or else drops the entries that need it.
    ///
    /// # Errors
    ///
    /// Values that can not be arguments of a program.
    pub fn fill(
        &self,
        parameters: &Parameters,
        mut arguments: Map<String, Value>,
    ) -> Result<FilledCommand, Vec<ArgumentFault>> {
        arguments.retain(|_, value| !value.is_null());
        for (name, value) in parameters.defaults() {
            if !arguments.contains_key(name) {
                arguments.insert(name.clone(), value.clone());
            }
        }
        let mut filling = Filling {
            arguments: &arguments,
            filled: Vec::new(),
            options_ended: false,
            faults: Vec::new(),
        };
        for group in self.program.groups() {
            filling.group(group);
        }
        if !filling.faults.is_empty() {
            return Err(filling.faults);
        }
        let filled = filling.filled;
        let line = match &self.program {
            ProgramTemplate::CallersLine(name) => arguments.get(*name).map(rendered),
            _ => None,
        };
        let line = line.unwrap_or_default();
        if line.contains('\0') {
            return Err(vec![fault("command", "contains NUL, which no line can")]);
        }
        let stdin = match &self.stdin {
            Stdin::Closed => None,
            Stdin::Text(piece) => text(piece, &arguments).map(String::into_bytes),
            Stdin::Json => Some(Value::Object(arguments).to_string().into_bytes()),
        };
        let (command, arguments) = match &self.program {
            ProgramTemplate::Line(line) => (line.clone(), None),
            ProgramTemplate::Direct { program, .. } => (program.clone(), Some(filled)),
            ProgramTemplate::CallersLine(_) => (line, None),
        };
        Ok(FilledCommand {
            command,
            arguments,
            stdin,
        })
    }
}

/// A text with all values in it; `None` where one is absent.
fn text(piece: &Piece, arguments: &Map<String, Value>) -> Option<String> {
    let mut filled = String::new();
    for part in &piece.parts {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Value { name, .. } => filled.push_str(&rendered(arguments.get(name)?)),
            Part::Flag { name, text } => {
                if arguments.get(name)? == &Value::Bool(true) {
                    filled.push_str(text);
                }
            }
        }
    }
    Some(filled)
}

struct Filling<'a> {
    arguments: &'a Map<String, Value>,
    filled: Vec<String>,
    /// Whether a `--` of the template stands before the entry in hand.
    options_ended: bool,
    faults: Vec<ArgumentFault>,
}

impl Filling<'_> {
    fn group(&mut self, group: &ArgumentGroup) {
        let mut list: Option<(&str, &[Value])> = None;
        for piece in &group.0 {
            for part in &piece.parts {
                match part {
                    Part::Text(_) => {}
                    Part::Flag { name, .. } => {
                        if self.arguments.get(name) != Some(&Value::Bool(true)) {
                            return;
                        }
                    }
                    Part::Value { name, .. } => match self.arguments.get(name) {
                        None => return,
                        Some(Value::Array(items)) => {
                            if list.is_some_and(|(known, _)| known != name) {
                                self.fault(name, "is a second list in one entry of `args`");
                                return;
                            }
                            list = Some((name, items));
                        }
                        Some(_) => {}
                    },
                }
            }
        }
        let Some((name, items)) = list else {
            self.once(group, None);
            return;
        };
        for (index, item) in items.iter().enumerate() {
            self.once(group, Some((name, index, item)));
        }
    }

    /// Adds the arguments of a group, with one item of its list.
    fn once(&mut self, group: &ArgumentGroup, item: Option<(&str, usize, &Value)>) {
        for (index, piece) in group.0.iter().enumerate() {
            let before = index
                .checked_sub(1)
                .and_then(|index| group.0[index].literal());
            let filled = self.piece(piece, item, before.is_some_and(takes_a_value));
            // Within a group `--` may be the value of an option.
            self.options_ended |= group.0.len() == 1 && piece.literal() == Some("--");
            self.filled.push(filled);
        }
    }

    fn piece(
        &mut self,
        piece: &Piece,
        item: Option<(&str, usize, &Value)>,
        follows_option: bool,
    ) -> String {
        let mut filled = String::new();
        for part in &piece.parts {
            let (name, may_be_option) = match part {
                Part::Text(text) | Part::Flag { text, .. } => {
                    filled.push_str(text);
                    continue;
                }
                Part::Value {
                    name,
                    may_be_option,
                } => (name, *may_be_option),
            };
            let (path, value) = match item {
                Some((list, index, item)) if list == name => (format!("{name}/{index}"), item),
                _ => (name.clone(), &self.arguments[name]),
            };
            let value = rendered(value);
            if value.contains('\0') {
                self.fault(&path, "contains NUL, which no argument of a program can");
            } else if filled.is_empty()
                && value.starts_with('-')
                && !(may_be_option || follows_option || self.options_ended)
            {
                self.fault(
                    &path,
                    "begins with `-`: the program would take it for an option (a file can be named `./-…`)",
                );
            }
            filled.push_str(&value);
            if filled.len() > MAX_ARGUMENT_BYTES {
                let why = format!(
                    "is too long: an argument of a program has at most {MAX_ARGUMENT_BYTES} bytes"
                );
                self.fault(&path, &why);
                return filled;
            }
        }
        filled
    }

    fn fault(&mut self, path: &str, message: &str) {
        let fault = fault(path, message);
        // A value may stand in several places; it is told once what is wrong with it.
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

/// Whether an entry of a template can be an option whose value is the next entry.
fn takes_a_value(entry: &str) -> bool {
    entry.starts_with('-') && !["-", "--"].contains(&entry) && !entry.contains('=')
}

fn fault(path: &str, message: &str) -> ArgumentFault {
    ArgumentFault {
        path: format!("/{path}"),
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::OutputFormat;
    use super::*;

    fn template(groups: &[&[&str]]) -> CommandTemplate {
        let group =
            |pieces: &&[&str]| ArgumentGroup(pieces.iter().map(|p| Piece::parse(p)).collect());
        CommandTemplate {
            program: ProgramTemplate::Direct {
                program: "program".into(),
                arguments: groups.iter().map(group).collect(),
            },
            stdin: Stdin::Closed,
            output: OutputFormat::Text,
            success_codes: vec![0],
        }
    }

    fn fill(groups: &[&[&str]], arguments: Value) -> Result<Vec<String>, String> {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let parameters = Parameters::of_schema(json!({
            "type": "object",
            "properties": { "depth": { "type": "integer", "default": 3 } },
        }));
        let filled = template(groups).fill(&parameters, arguments);
        let filled = filled.map_err(|faults| {
            faults
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        })?;
        Ok(filled.arguments.unwrap())
    }

    #[test]
    fn values_fill_their_places() {
        for (groups, arguments, expected) in [
            (
                &[&["check"][..], &["{path}"]][..],
                json!({"path": "a b\n\"c\" $(d)"}),
                vec!["check", "a b\n\"c\" $(d)"],
            ),
            (&[&["{path}"]], json!({}), vec![]),
            (&[&["{path}"]], json!({"path": null}), vec![]),
            (&[&["--depth={depth}"]], json!({}), vec!["--depth=3"]),
            (
                &[&["--depth={depth}"]],
                json!({"depth": 7}),
                vec!["--depth=7"],
            ),
            (
                &[&["{file}"]],
                json!({"file": ["a", "b c"]}),
                vec!["a", "b c"],
            ),
            (
                &[&["-e", "{pattern}"]],
                json!({"pattern": ["x", "-y"]}),
                vec!["-e", "x", "-e", "-y"],
            ),
            (
                &[&["-e", "{pattern}"], &["z"]],
                json!({"pattern": []}),
                vec!["z"],
            ),
            (
                &[&["{all?--all}"], &["{long?-l}"]],
                json!({"all": true, "long": false}),
                vec!["--all"],
            ),
            (
                &[&["{filter}"]],
                json!({"filter": {"a": [1]}}),
                vec![r#"{"a":[1]}"#],
            ),
            (&[&["{a}{b}"]], json!({"a": "", "b": ""}), vec![""]),
        ] {
            assert_eq!(
                fill(groups, arguments.clone()).unwrap(),
                expected,
                "{groups:?} {arguments}"
            );
        }
    }

    #[test]
    fn a_value_becomes_an_option_only_where_the_template_means_it() {
        let rm = json!({"path": "-rf"});
        for refused in [
            &[&["{path}"][..]][..],
            &[&["-v"], &["{path}"]],
            &[&["check", "{path}"]],
            &[&["-e", "--"], &["{path}"]],
            &[&["-", "{path}"]],
            &[&["--config=x", "{path}"]],
        ] {
            let fault = fill(refused, rm.clone()).unwrap_err();
            assert_eq!(
                fault,
                "/path: begins with `-`: the program would take it for an option (a file can be named `./-…`)"
            );
        }
        let split = fill(&[&["{empty}{path}"]], json!({"empty": "", "path": "-rf"}));
        assert!(split.unwrap_err().starts_with("/path"));
        let item = fill(&[&["{path}"]], json!({"path": ["a", "-rf"]}));
        assert!(item.unwrap_err().starts_with("/path/1"));
        for (meant, expected) in [
            (&[&["--"][..], &["{path}"]][..], vec!["--", "-rf"]),
            (&[&["-e", "{path}"]], vec!["-e", "-rf"]),
            (&[&["--path={path}"]], vec!["--path=-rf"]),
            (&[&["{-path}"]], vec!["-rf"]),
        ] {
            assert_eq!(fill(meant, rm.clone()).unwrap(), expected);
        }
        // `--` as a value is an option, too, and ends nothing.
        let forged = fill(&[&["{-a}"], &["{path}"]], json!({"a": "--", "path": "-rf"}));
        assert!(forged.unwrap_err().starts_with("/path"));
    }

    #[test]
    fn what_no_program_can_take_is_refused() {
        assert!(
            fill(&[&["{a}"]], json!({"a": "x\u{0}"}))
                .unwrap_err()
                .contains("NUL")
        );
        let long = "x".repeat(MAX_ARGUMENT_BYTES + 1);
        assert!(
            fill(&[&["{a}"]], json!({ "a": long }))
                .unwrap_err()
                .contains("too long")
        );
        let lists = fill(&[&["{a}={b}"]], json!({"a": ["x"], "b": ["y"]}));
        assert!(lists.unwrap_err().contains("second list"));
    }

    #[test]
    fn standard_input_is_closed_json_or_a_text() {
        let parameters = Parameters::of_schema(json!({
            "type": "object", "properties": { "n": { "default": 1 } },
        }));
        let filled = |stdin: Stdin, arguments: Value| {
            let template = CommandTemplate {
                stdin,
                ..template(&[])
            };
            let arguments = arguments.as_object().unwrap().clone();
            let stdin = template.fill(&parameters, arguments).unwrap().stdin;
            stdin.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let text = || Stdin::Text(Piece::parse("{text}"));
        assert_eq!(filled(Stdin::Closed, json!({})), None);
        assert_eq!(
            filled(Stdin::Json, json!({"text": "a"})).unwrap(),
            r#"{"text":"a","n":1}"#
        );
        assert_eq!(
            filled(text(), json!({"text": "-a\u{0}"})).unwrap(),
            "-a\u{0}"
        );
        assert_eq!(filled(text(), json!({})), None);
    }

    proptest! {
        #[test]
        fn one_value_is_one_argument(value in "\\PC*") {
            let filled = fill(&[&["{-v}"], &["=", "x={v}y"]], json!({"v": value.clone()})).unwrap();
            prop_assert_eq!(filled, [value.clone(), "=".into(), format!("x={value}y")]);
        }
    }
}

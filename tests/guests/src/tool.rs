//! A tool as a value: its description and the function behind it.

use std::cell::OnceCell;
use std::fmt::Write as _;

use serde_json::Value;

use crate::answer::{Answer, fail};
use crate::tools::{Error, ErrorKind, Hints, Request, ToolSpec};

/// One tool of a guest.
pub struct Tool {
    spec: ToolSpec,
    parameters: Vec<Parameter>,
    run: fn(Arguments) -> Answer,
}

struct Parameter {
    name: &'static str,
    json_type: &'static str,
    required: bool,
}

impl Tool {
    /// A tool without parameters.
    pub fn new(name: &str, description: &str, run: fn(Arguments) -> Answer) -> Self {
        let spec = ToolSpec {
            description: description.to_owned(),
            ..spec(name, "")
        };
        Self {
            spec,
            parameters: Vec::new(),
            run,
        }
    }

    /// Adds a required parameter of a JSON type.
    #[must_use]
    pub fn takes(mut self, name: &'static str, json_type: &'static str) -> Self {
        self.parameters.push(Parameter {
            name,
            json_type,
            required: true,
        });
        self
    }

    /// Adds a parameter of a JSON type that may be left out.
    #[must_use]
    pub fn may_take(mut self, name: &'static str, json_type: &'static str) -> Self {
        self.parameters.push(Parameter {
            name,
            json_type,
            required: false,
        });
        self
    }

    /// Promises structured answers of that schema.
    #[must_use]
    pub fn answers(mut self, schema: &str) -> Self {
        self.spec.output_schema = Some(schema.to_owned());
        self
    }

    /// Sets the title for people.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Self {
        self.spec.title = Some(title.to_owned());
        self
    }

    /// Claims these hints.
    #[must_use]
    pub fn hinting(mut self, hints: Hints) -> Self {
        self.spec.hints = hints;
        self
    }

    /// Asks for these things.
    #[must_use]
    pub fn asking(mut self, requests: Vec<Request>) -> Self {
        self.spec.requests = requests;
        self
    }

    /// The description, with the schema of the parameters.
    pub fn into_spec(self) -> ToolSpec {
        ToolSpec {
            input_schema: schema(&self.parameters),
            ..self.spec
        }
    }
}

// Written by hand so that a guest without parameters stays free of a JSON library:
// each module of the test suite costs compile time.
fn schema(parameters: &[Parameter]) -> String {
    let mut properties = String::new();
    let mut required = String::new();
    for parameter in parameters {
        let comma = if properties.is_empty() { "" } else { "," };
        let (name, json_type) = (parameter.name, parameter.json_type);
        let _ = write!(properties, r#"{comma}"{name}":{{"type":"{json_type}"}}"#);
        if parameter.required {
            let comma = if required.is_empty() { "" } else { "," };
            let _ = write!(required, r#"{comma}"{name}""#);
        }
    }
    format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#)
}

/// A description with that name and input schema, well meant or not.
pub fn spec(name: &str, input_schema: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: None,
        description: "A tool of a test guest.".to_owned(),
        input_schema: input_schema.to_owned(),
        output_schema: None,
        hints: no_hints(),
        requests: Vec::new(),
    }
}

/// Hints that say nothing.
pub fn no_hints() -> Hints {
    Hints {
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
    }
}

/// Calls the tool of that name.
pub fn find_and_run(tools: Vec<Tool>, name: &str, arguments: String) -> Answer {
    let Some(tool) = tools.into_iter().find(|tool| tool.spec.name == name) else {
        return Err(fail(
            ErrorKind::NotFound,
            format!("this guest has no tool `{name}`"),
        ));
    };
    (tool.run)(Arguments {
        json: arguments,
        value: OnceCell::new(),
    })
}

/// The arguments of a call, parsed when the first one is asked for.
pub struct Arguments {
    json: String,
    value: OnceCell<Value>,
}

impl Arguments {
    /// The arguments as they arrived.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// All arguments; `null` if they are no JSON.
    pub fn value(&self) -> &Value {
        self.value
            .get_or_init(|| serde_json::from_str(&self.json).unwrap_or_default())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        self.optional_text(name)
            .ok_or_else(|| missing(name, "text"))
    }

    /// A text that may be left out.
    pub fn optional_text(&self, name: &str) -> Option<String> {
        self.value().get(name)?.as_str().map(str::to_owned)
    }

    /// A number from 0.
    pub fn number(&self, name: &str) -> Result<u64, Error> {
        self.optional_number(name)
            .ok_or_else(|| missing(name, "number from 0"))
    }

    /// A number from 0 that may be left out.
    pub fn optional_number(&self, name: &str) -> Option<u64> {
        self.value().get(name)?.as_u64()
    }

    /// A number from 0 for the guest's own sizes.
    pub fn size(&self, name: &str) -> Result<usize, Error> {
        usize::try_from(self.number(name)?).map_err(|_| missing(name, "number below 4294967296"))
    }
}

fn missing(name: &str, kind: &str) -> Error {
    fail(
        ErrorKind::InvalidArguments,
        format!("`{name}` must be a {kind}"),
    )
}

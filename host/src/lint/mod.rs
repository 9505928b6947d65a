//! What clients of models demand of tools, as rules over a tool's description: each with a
//! name that stays, where it is broken, what a client makes of that, and what the author
//! can do.
//!
//! Invariants: rules are pure and look at nothing but the description; nothing here is on
//! the path of a call. A tool with findings serves.
//!
//! What is decided where:
//!
//! * *Refused* when it is loaded, because the contract forbids it or whole lists are refused
//!   for it: a name that is none, a description that is empty, too long or holds control
//!   characters, a schema that is no valid schema of an object, or reaches elsewhere.
//! * *Repaired* in the lists that clients get, where the meaning stays: `properties` that
//!   are missing, an output schema that is of no object (left out), hints that grants or
//!   other hints speak against. Schemas are the author's own in MCP otherwise, to the letter.
//! * *Repaired for an API* that is stricter than MCP ([`for_api`]): references, the dialect,
//!   combinators at the root.
//! * All else is a [`Severity::Warning`] where some client drops or misreads the tool, and a
//!   [`Severity::Note`] where the author could help a model more.

mod names;
mod repair;
mod rules;
mod schemas;
#[cfg(test)]
mod tests;
mod walk;
mod words;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

pub use names::similar_names;
pub use repair::{Repaired, for_api};
pub use rules::{RULES, Rule};

use crate::model::ToolSpec;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The author could help a model more, or what is missing is put in for it.
    Note,
    /// Some clients drop the tool, misread it, or are refused because of it.
    Warning,
}

/// A rule that a tool breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which one.
    pub rule: &'static Rule,
    /// Where, as JSON pointers into the tool as MCP lists it, at most [`MAX_PLACES`].
    pub places: Vec<String>,
}

/// Places of one finding that are told.
pub const MAX_PLACES: usize = 8;

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rule = self.rule;
        let mut finding = serializer.serialize_struct("Finding", 6)?;
        finding.serialize_field("rule", rule.id)?;
        finding.serialize_field("severity", &rule.severity)?;
        finding.serialize_field("what", rule.what)?;
        finding.serialize_field("places", &self.places)?;
        finding.serialize_field("effect", rule.effect)?;
        finding.serialize_field("help", rule.advice)?;
        finding.end()
    }
}

/// Holds a tool against all rules; `name` is the one by which agents call it.
pub fn lint(name: &str, spec: &ToolSpec) -> Vec<Finding> {
    let broken = RULES.iter().filter_map(|rule| {
        let mut places = (rule.find)(name, spec);
        places.truncate(MAX_PLACES);
        (!places.is_empty()).then_some(Finding { rule, places })
    });
    broken.collect()
}

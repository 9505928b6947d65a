//! What all tables of one file share: its text, its environment, and the faults that were
//! found so far. Unknown keys are judged last, when it is clear which keys there are.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use super::fault::Fault;
use super::source::SourceText;
use super::suggest;
use super::{Environment, Place};

/// What all tables of one file share.
pub(super) struct Document<'a> {
    pub(super) source: &'a SourceText,
    pub(super) environment: &'a Environment,
    /// The folder that relative paths start from.
    pub(super) folder: PathBuf,
    /// Whether the whole text could be parsed, so that what is absent is really absent.
    pub(super) complete: bool,
    faults: RefCell<Vec<Fault>>,
    known: RefCell<Vec<(String, &'static str)>>,
    unknown: RefCell<Vec<Unknown>>,
}

/// A key that no one asked for.
struct Unknown {
    table: String,
    name: String,
    span: Range<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        source: &'a SourceText,
        environment: &'a Environment,
        folder: PathBuf,
        complete: bool,
    ) -> Self {
        Self {
            source,
            environment,
            folder,
            complete,
            faults: RefCell::default(),
            known: RefCell::default(),
            unknown: RefCell::default(),
        }
    }

    pub(super) fn report(&self, fault: Fault) {
        self.faults.borrow_mut().push(fault);
    }

    pub(super) fn place(&self, span: &Range<usize>) -> Place {
        self.source.place(span.start)
    }

    /// A table was read to its end: the keys that were asked for are the ones it has.
    pub(super) fn close(&self, table: &str, asked: &[&'static str]) {
        let asked = asked.iter().map(|name| (table.to_owned(), *name));
        self.known.borrow_mut().extend(asked);
    }

    /// A key that is in a table, but was not asked for.
    pub(super) fn unknown(&self, table: &str, name: &str, span: Range<usize>) {
        let (table, name) = (table.to_owned(), name.to_owned());
        self.unknown
            .borrow_mut()
            .push(Unknown { table, name, span });
    }

    #[cfg(test)]
    pub(super) fn known_keys(self) -> Vec<String> {
        let known = self.known.into_inner();
        known
            .iter()
            .map(|(table, name)| joined(table, name))
            .collect()
    }

    /// All faults, once every table was read: only then it is clear whether an unknown
    /// key is known elsewhere.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        let known = self.known.into_inner();
        let mut faults = self.faults.into_inner();
        for unknown in self.unknown.into_inner() {
            faults.push(unknown.fault(&known, self.source));
        }
        faults
    }
}

impl Unknown {
    fn fault(&self, known: &[(String, &'static str)], source: &SourceText) -> Fault {
        let Self { table, name, span } = self;
        let here = known.iter().filter(|(of, _)| of == table);
        let mut here: Vec<&str> = here.map(|(_, name)| *name).collect();
        // A key may be asked for by several checks.
        let mut told = HashSet::new();
        here.retain(|name| told.insert(*name));
        let elsewhere = known
            .iter()
            .filter(|(of, known)| known == name && may_mean(table, of));
        // Of several, the table that is nearest in the tree.
        let elsewhere = elsewhere.max_by_key(|(of, _)| shared(table, of));
        let help = if let Some(near) = suggest::nearest(name, here.iter().copied()) {
            format!("did you mean `{near}`?")
        } else if let Some((table, name)) = elsewhere {
            format!("`{name}` belongs into `[{table}]`")
        } else {
            format!("keys that are known here: {}", suggest::listed(here))
        };
        Fault::error(format!("unknown key `{name}` in `[{table}]`"))
            .about(&joined(table, name))
            .at(source, span)
            .help(help)
    }
}

/// Tables whose tables have names of their own.
const NAMED: [&str; 3] = ["tools.custom.", "serve.resources.", "serve.prompts."];

/// Whether a key that was found in one table may have been meant for another: never for
/// the table of another tool, resource or prompt.
fn may_mean(found: &str, meant: &str) -> bool {
    let named = |table: &str| {
        let kind = NAMED.iter().find(|kind| table.starts_with(*kind))?;
        let name = table[kind.len()..].split('.').next().unwrap_or_default();
        Some((*kind, name.to_owned()))
    };
    found != meant && (named(meant).is_none() || named(found) == named(meant))
}

/// How many parts two keys have in common at their beginnings.
fn shared(one: &str, other: &str) -> usize {
    let parts = one.split('.').zip(other.split('.'));
    parts.take_while(|(one, other)| one == other).count()
}

/// A full key, with quotes where TOML needs them.
pub(super) fn joined(table: &str, name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        format!("{name:?}")
    };
    if table.is_empty() {
        name
    } else {
        format!("{table}.{name}")
    }
}

//! Reading tables of a TOML document key by key. A key is known because somebody asked
//! for it; what nobody asked for is reported. Faults are collected, never returned, so
//! that one reading finds all of them.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::Fault;
use super::source::SourceText;
use super::suggest;
use super::{Environment, Place, Setting};

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
        let here: Vec<&str> = here.map(|(_, name)| *name).collect();
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

/// A table, or the absence of one: then every key has its default.
pub(super) struct Table<'a> {
    pub(super) document: &'a Document<'a>,
    /// The full key, empty for the root.
    pub(super) key: String,
    entries: Option<&'a DeTable<'a>>,
    asked: RefCell<Vec<&'static str>>,
    closed: Cell<bool>,
}

impl<'a> Table<'a> {
    pub(super) fn root(document: &'a Document<'a>, entries: &'a DeTable<'a>) -> Self {
        Self::new(document, String::new(), Some(entries))
    }

    pub(super) fn absent(document: &'a Document<'a>, key: String) -> Self {
        Self::new(document, key, None)
    }

    fn new(document: &'a Document<'a>, key: String, entries: Option<&'a DeTable<'a>>) -> Self {
        Self {
            document,
            key,
            entries,
            asked: RefCell::default(),
            closed: Cell::new(false),
        }
    }

    /// The full key of an entry of this table.
    pub(super) fn full_key(&self, name: &str) -> String {
        joined(&self.key, name)
    }

    /// All entries, for tables whose keys are free.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        self.closed.set(true);
        let entries = self.entries.into_iter().flatten();
        entries.map(|(key, value)| Entry {
            document: self.document,
            key: self.full_key(key.get_ref()),
            name: key.get_ref(),
            key_span: key.span(),
            value: value.get_ref(),
            span: value.span(),
        })
    }

    /// The entry of that name; from now on the name is known.
    pub(super) fn entry(&self, name: &'static str) -> Option<Entry<'a>> {
        self.asked.borrow_mut().push(name);
        let (key, value) = self
            .entries?
            .iter()
            .find(|(key, _)| key.get_ref() == name)?;
        Some(Entry {
            document: self.document,
            key: self.full_key(name),
            name,
            key_span: key.span(),
            value: value.get_ref(),
            span: value.span(),
        })
    }

    /// The table of that name within this one.
    pub(super) fn table(&self, name: &'static str) -> Table<'a> {
        self.entry(name)
            .and_then(|entry| entry.table())
            .unwrap_or_else(|| Table::absent(self.document, self.full_key(name)))
    }

    /// A key with a default. `read` reports what is wrong and then answers `None`.
    pub(super) fn setting<T>(
        &self,
        name: &'static str,
        default: T,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Setting<T> {
        self.optional(name, read)
            .unwrap_or_else(|| Setting::default_of(self.full_key(name), default))
    }

    /// A key without a default.
    pub(super) fn optional<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Option<Setting<T>> {
        let entry = self.entry(name)?;
        read(&entry).map(|value| entry.setting(value))
    }

    /// A key that may stand in this table or in another; in both only with one value.
    pub(super) fn optional_in_either<T: PartialEq>(
        &self,
        other: &Table<'a>,
        name: &'static str,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Option<Setting<T>> {
        let read = |table: &Table<'a>| {
            let entry = table.entry(name)?;
            read(&entry).map(|value| (entry, value))
        };
        match (read(self), read(other)) {
            (Some((entry, value)), Some((again, other))) => {
                if value != other {
                    again.report(entry.disagreement(&again));
                }
                Some(entry.setting(value))
            }
            (Some((entry, value)), None) | (None, Some((entry, value))) => {
                Some(entry.setting(value))
            }
            (None, None) => None,
        }
    }

    /// [`optional_in_either`](Self::optional_in_either) with a default.
    pub(super) fn setting_in_either<T: PartialEq>(
        &self,
        other: &Table<'a>,
        name: &'static str,
        default: T,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Setting<T> {
        self.optional_in_either(other, name, read)
            .unwrap_or_else(|| Setting::default_of(self.full_key(name), default))
    }
}

/// Everything was asked for: what is left is unknown.
impl Drop for Table<'_> {
    fn drop(&mut self) {
        if self.closed.get() || self.key.is_empty() {
            return;
        }
        let asked = self.asked.take();
        let mut known = self.document.known.borrow_mut();
        known.extend(asked.iter().map(|name| (self.key.clone(), *name)));
        let mut unknown = self.document.unknown.borrow_mut();
        for (key, _) in self.entries.into_iter().flatten() {
            if !asked.contains(&key.get_ref().as_ref()) {
                unknown.push(Unknown {
                    table: self.key.clone(),
                    name: key.get_ref().to_string(),
                    span: key.span(),
                });
            }
        }
    }
}

/// One key and its value, as they stand in the file.
pub(super) struct Entry<'a> {
    pub(super) document: &'a Document<'a>,
    /// The full key.
    pub(super) key: String,
    /// The last part of the key.
    pub(super) name: &'a str,
    pub(super) key_span: Range<usize>,
    pub(super) value: &'a DeValue<'a>,
    /// Where the value is.
    pub(super) span: Range<usize>,
}

impl<'a> Entry<'a> {
    /// The value as a setting that knows where it was written.
    pub(super) fn setting<T>(&self, value: T) -> Setting<T> {
        Setting {
            value,
            key: self.key.clone(),
            place: Some(self.document.place(&self.key_span)),
        }
    }

    /// Reports a fault of this key, at its value unless the fault knows better.
    pub(super) fn report(&self, fault: Fault) {
        let fault = match fault.span {
            Some(_) => fault,
            None => fault.at(self.document.source, &self.span),
        };
        self.document.report(fault.about(&self.key));
    }

    /// The items of an array as entries of the same key.
    pub(super) fn item(&self, item: &'a Spanned<DeValue<'a>>) -> Entry<'a> {
        Entry {
            document: self.document,
            key: self.key.clone(),
            name: self.name,
            key_span: item.span(),
            value: item.get_ref(),
            span: item.span(),
        }
    }

    /// The value as a table.
    pub(super) fn table(&self) -> Option<Table<'a>> {
        let DeValue::Table(entries) = self.value else {
            self.wrong_type("a table");
            return None;
        };
        Some(Table::new(self.document, self.key.clone(), Some(entries)))
    }

    fn disagreement(&self, again: &Entry<'_>) -> Fault {
        let source = self.document.source;
        let lines = [&self.key_span, &again.key_span].map(|span| source.place(span.start).line);
        let written = [self, again].map(|entry| source.slice(&entry.span).to_owned());
        Fault::error(format!("`{}` is set twice, to different values", self.name))
            .at(source, &again.span)
            .because(format!(
                "`{}` in line {}, but `{}` in line {}",
                written[1], lines[1], written[0], lines[0]
            ))
            .with_related(
                source,
                &self.span,
                format!("`{}` is set here too", self.key),
            )
            .help("keep one of the two")
    }
}

/// Whether a key that was found in one table may have been meant for another: never for
/// the table of another tool.
fn may_mean(found: &str, meant: &str) -> bool {
    let tool = |table: &str| {
        let name = table.strip_prefix("tools.custom.")?;
        Some(name.split('.').next().unwrap_or_default().to_owned())
    };
    found != meant && (tool(meant).is_none() || tool(found) == tool(meant))
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

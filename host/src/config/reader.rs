//! Reading tables of a TOML document key by key. A key is known because somebody asked
//! for it; what nobody asked for is reported. Faults are collected, never returned, so
//! that one reading finds all of them.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Setting;
use super::document::{Document, joined};
use super::fault::Fault;

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
        self.document.close(&self.key, &asked);
        for (key, _) in self.entries.into_iter().flatten() {
            if !asked.contains(&key.get_ref().as_ref()) {
                self.document.unknown(&self.key, key.get_ref(), key.span());
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

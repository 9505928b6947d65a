//! The types of values that keys have: reads one, or reports what is wrong with it.

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use toml::de::DeValue;

use super::fault::Fault;
use super::reader::Entry;
use super::{Provided, amounts, paths, suggest};

/// No limit of time is shorter than a millisecond or longer than a day.
const SECONDS: RangeInclusive<f64> = 0.001..=86_400.0;

impl<'a> Entry<'a> {
    /// Reports that the value has another type than the one that is expected.
    pub(super) fn wrong_type(&self, expected: &str) {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        let fault = Fault::error(format!("`{}` has the wrong type", self.key))
            .because(format!("expected {expected}, found {found}"));
        self.report(match self.rewritten(expected) {
            Some(value) if expected == "a table" => fault.help(format!("write `{value}`")),
            Some(value) => fault.help(format!("write `{} = {value}`", self.name)),
            None => fault,
        });
    }

    /// The value in the type that is expected, where its text makes that obvious.
    fn rewritten(&self, expected: &str) -> Option<String> {
        let written = self.document.source.slice(&self.span);
        match self.value {
            DeValue::String(text)
                if expected.contains("number") || expected.contains("integer") =>
            {
                text.parse::<u32>().ok().map(|number| number.to_string())
            }
            DeValue::String(text) if expected == "`true` or `false`" => {
                text.parse::<bool>().ok().map(|value| value.to_string())
            }
            DeValue::Array(_) if self.key == "tools.custom" => {
                Some("[tools.custom.<name>]".to_owned())
            }
            DeValue::Array(_) if written.starts_with("[[") => Some(format!("[{}]", self.key)),
            DeValue::String(_) if expected.starts_with("an array") => Some(format!("[{written}]")),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_)
                if expected.contains("string") && !expected.contains("array") =>
            {
                Some(format!("\"{written}\""))
            }
            _ => None,
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        let DeValue::Boolean(value) = self.value else {
            self.wrong_type("`true` or `false`");
            return None;
        };
        Some(*value)
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        let DeValue::String(text) = self.value else {
            self.wrong_type("a string");
            return None;
        };
        Some(text)
    }

    /// A string that is not empty.
    pub(super) fn filled_text(&self) -> Option<String> {
        let text = self.text()?;
        if text.trim().is_empty() || text.contains('\0') {
            self.report(
                Fault::error(format!("`{}` is not usable", self.key))
                    .because("it is empty or contains NUL")
                    .help("write a text, or remove the key"),
            );
            return None;
        }
        Some(text.to_owned())
    }

    /// A whole number within a range.
    pub(super) fn whole(&self, range: &RangeInclusive<u64>, unit: &str) -> Option<u64> {
        let DeValue::Integer(number) = self.value else {
            self.wrong_type("an integer");
            return None;
        };
        let value = i128::from_str_radix(number.as_str(), number.radix()).ok();
        let value = value.and_then(|value| u64::try_from(value).ok());
        if let Some(value) = value.filter(|value| range.contains(value)) {
            return Some(value);
        }
        self.out_of_range([range.start(), range.end()].map(u64::to_string), unit);
        None
    }

    /// A whole number of some multiple of bytes, as bytes.
    pub(super) fn bytes(&self, range: &RangeInclusive<u64>, scale: u64, unit: &str) -> Option<u64> {
        self.whole(range, unit)
            .map(|value| value.saturating_mul(scale))
    }

    /// A time of up to a day, in seconds; fractions are allowed.
    pub(super) fn seconds(&self) -> Option<Duration> {
        let seconds = match self.value {
            DeValue::Integer(number) => {
                let number = i64::from_str_radix(number.as_str(), number.radix()).ok();
                // Numbers that do not fit are far out of range.
                number
                    .and_then(|number| u32::try_from(number).ok())
                    .map(f64::from)
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => {
                self.wrong_type("a number of seconds");
                return None;
            }
        };
        let seconds = seconds.filter(|seconds| SECONDS.contains(seconds));
        if seconds.is_none() {
            self.out_of_range(
                [SECONDS.start(), SECONDS.end()].map(f64::to_string),
                "seconds",
            );
        }
        Duration::try_from_secs_f64(seconds?).ok()
    }

    fn out_of_range(&self, range: [String; 2], unit: &str) {
        let written = self.document.source.slice(&self.span);
        let [least, most] = range;
        self.report(
            Fault::error(format!("`{}` is out of range", self.key))
                .because(format!("{written} is not between {least} and {most}"))
                .help(format!("write a number of {unit} from {least} to {most}")),
        );
    }

    /// An amount of memory as Docker writes it, in bytes.
    pub(super) fn memory(&self) -> Option<u64> {
        let DeValue::String(text) = self.value else {
            self.wrong_type("a string such as \"256m\"");
            return None;
        };
        match amounts::memory(text) {
            Ok(bytes) => Some(bytes),
            Err(why) => {
                self.report(
                    Fault::error(format!("`{}` is not an amount of memory", self.key))
                        .because(why)
                        .help("write a number and a unit, for instance `\"256m\"` or `\"1g\"`"),
                );
                None
            }
        }
    }

    /// A number of processors, in thousandths.
    pub(super) fn processors(&self) -> Option<u64> {
        let text = match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Integer(number) => number.to_string(),
            _ => {
                self.wrong_type("a string such as \"1.0\"");
                return None;
            }
        };
        match amounts::processors(&text) {
            Ok(millis) => Some(millis),
            Err(why) => {
                self.report(
                    Fault::error(format!("`{}` is not a number of processors", self.key))
                        .because(why)
                        .help("write a number, for instance `\"0.5\"`"),
                );
                None
            }
        }
    }

    /// One of some words.
    pub(super) fn choice<T: Clone>(&self, choices: &[(&'static str, T)]) -> Option<T> {
        let words = || choices.iter().map(|(word, _)| *word);
        let DeValue::String(text) = self.value else {
            self.wrong_type(&format!("one of {}", suggest::listed(words())));
            return None;
        };
        let chosen = choices.iter().find(|(word, _)| word == text);
        if chosen.is_none() {
            let fault = Fault::error(format!("`{}` has an unknown value", self.key));
            let fault = fault.because(format!("expected {}", suggest::listed(words())));
            self.report(match suggest::nearest(text, words()) {
                Some(near) => fault.help(format!("did you mean `\"{near}\"`?")),
                None => fault,
            });
        }
        chosen.map(|(_, value)| value.clone())
    }

    /// A path, made absolute.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let text = self.text()?;
        match paths::expand(text, &self.document.folder, self.document.environment) {
            Ok(path) => Some(path),
            Err(error) => {
                self.report(
                    Fault::error(format!("`{}` is not a usable path", self.key))
                        .because(error.to_string())
                        .help(error.help()),
                );
                None
            }
        }
    }

    /// The items of an array, each read by `read`; items with a fault are left out.
    pub(super) fn list<T>(
        &self,
        expected: &str,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let DeValue::Array(items) = self.value else {
            self.wrong_type(&format!("an array of {expected}"));
            return None;
        };
        Some(
            items
                .iter()
                .filter_map(|item| read(&self.item(item)))
                .collect(),
        )
    }

    /// Names of environment variables.
    pub(super) fn variable_names(&self) -> Option<Vec<String>> {
        self.list("strings", |item| {
            let name = item.text()?;
            item.is_variable_name(name, &item.span)
                .then(|| name.to_owned())
        })
    }

    /// A table of environment variables with their values.
    pub(super) fn variables(&self) -> Option<IndexMap<String, String>> {
        self.named_variables(Entry::variable_value)
    }

    /// A table of environment variables with their values, or where these are.
    pub(super) fn variables_or_sources(&self) -> Option<IndexMap<String, Provided<String>>> {
        self.named_variables(|entry| entry.provided(Entry::variable_value))
    }

    fn named_variables<T>(
        &self,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Option<IndexMap<String, T>> {
        let table = self.table()?;
        let variables = table.entries().filter_map(|entry| {
            let named = entry.is_variable_name(entry.name, &entry.key_span);
            let value = read(&entry)?;
            named.then(|| (entry.name.to_owned(), value))
        });
        Some(variables.collect())
    }

    fn variable_value(&self) -> Option<String> {
        let value = self.text()?;
        if value.contains('\0') {
            self.report(Fault::error(format!("`{}` must not contain NUL", self.key)));
        }
        Some(value.to_owned())
    }

    /// A value, or `{ env = "NAME" }` or `{ file = "path" }` that say where it is.
    pub(super) fn provided<T>(
        &self,
        read: impl Fn(&Entry<'a>) -> Option<T>,
    ) -> Option<Provided<T>> {
        let DeValue::Table(entries) = self.value else {
            return read(self).map(Provided::Value);
        };
        let mut keys = entries.keys().map(|key| key.get_ref().as_ref());
        match (keys.next(), keys.next()) {
            (Some("env"), None) => {
                let table = self.table()?;
                let entry = table.entry("env")?;
                let name = entry.text()?;
                entry
                    .is_variable_name(name, &entry.span)
                    .then(|| Provided::Variable(name.to_owned()))
            }
            (Some("file"), None) => {
                let table = self.table()?;
                table.entry("file")?.path().map(Provided::File)
            }
            _ => read(self).map(Provided::Value),
        }
    }

    fn is_variable_name(&self, name: &str, span: &Range<usize>) -> bool {
        let why = if name.is_empty() {
            "the name is empty"
        } else if name.contains('*') {
            "`*` does not stand for other names: each variable is granted by its own"
        } else if name.contains(['=', '\0']) {
            "a name has no `=` and no NUL"
        } else {
            return true;
        };
        self.report(
            Fault::error(format!(
                "`{}` is not the name of an environment variable",
                name.escape_debug()
            ))
            .at(self.document.source, span)
            .because(why)
            .help("write the exact name, for instance `LANG`"),
        );
        false
    }
}

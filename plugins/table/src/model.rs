//! A table in memory. Invariant: column names differ, and every row has a cell for each.

use prx_skill::prelude::*;
use serde_json::{Map, Value};

use crate::error::TableError;

/// How a table is written as text.
#[data]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Comma-separated values with a header line.
    Csv,
    /// An array of objects.
    Json,
    /// One object on each line.
    Ndjson,
    /// A table in Markdown.
    Markdown,
}

/// How the input is written.
#[data]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum InputFormat {
    /// Comma-separated values with a header line; other delimiters work too.
    Csv,
    /// An array of objects, or a single object.
    Json,
    /// One object on each line.
    Ndjson,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        let place = self.columns.iter().position(|column| column == name);
        place.ok_or_else(|| TableError::UnknownColumn {
            column: name.to_owned(),
            nearest: nearest(name, &self.columns),
            columns: self.columns.clone(),
        })
    }

    /// The places of several columns.
    pub fn places(&self, names: &[String]) -> Result<Vec<usize>, TableError> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// The rows as objects.
    pub fn objects(&self) -> impl Iterator<Item = Map<String, Value>> + '_ {
        self.rows.iter().map(|row| {
            self.columns
                .iter()
                .cloned()
                .zip(row.iter().cloned())
                .collect()
        })
    }
}

fn nearest(name: &str, columns: &[String]) -> Option<String> {
    let alike = |column: &str| {
        strsim::jaro_winkler(&name.trim().to_lowercase(), &column.trim().to_lowercase())
    };
    let best = columns
        .iter()
        .max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(best) >= 0.75).then(|| best.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_column_is_answered_with_the_nearest_and_all_others() {
        let table = Table {
            columns: vec!["Price".into(), "name".into()],
            rows: Vec::new(),
        };
        assert_eq!(table.column("name"), Ok(1));
        let error = table.column("prize").unwrap_err().to_string();
        assert!(error.contains("did you mean `Price`?"), "{error}");
        assert!(error.contains("`Price`, `name`"), "{error}");
        let error = table.column("zzz").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }
}

//! Why a table could not be read or queried, in words that let a model repair its call.

use thiserror::Error;

/// Why a table could not be read or queried.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// There is nothing in the input.
    #[error("`input` is empty: give CSV with a header line, a JSON array of objects, or NDJSON")]
    Empty,
    /// The delimiter is not one character.
    #[error("`delimiter` must be one ASCII character such as `;`, not `{delimiter}`")]
    BadDelimiter {
        /// The delimiter.
        delimiter: String,
    },
    /// A record of the CSV is not like the header.
    #[error(
        "line {line} of the CSV has {found} fields and the header has {expected}: put values \
         that hold the delimiter `{delimiter}` or a line break in double quotes, or give another \
         `delimiter`"
    )]
    RaggedCsv {
        /// The line, from 1.
        line: u64,
        /// Fields found in it.
        found: usize,
        /// Fields of the header.
        expected: usize,
        /// What separates fields.
        delimiter: char,
    },
    /// The CSV can not be read for another reason.
    #[error("the input is no CSV: {why}")]
    BadCsv {
        /// What is wrong.
        why: String,
    },
    /// The JSON can not be read.
    #[error("the input is no {format}: {why}")]
    BadJson {
        /// `JSON` or `NDJSON`.
        format: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A row of the JSON is not an object.
    #[error(
        "row {row} of the input is {found}, and every row must be an object such as \
         {{\"name\": \"value\"}}"
    )]
    NotAnObject {
        /// The row, from 1.
        row: usize,
        /// What it is.
        found: &'static str,
    },
    /// No row has any column.
    #[error("the rows of the input have no fields")]
    NoColumns,
    /// There is no such column.
    #[error("there is no column `{column}`{}: the columns are {}", meant(nearest.as_deref()), list(columns))]
    UnknownColumn {
        /// The column asked for.
        column: String,
        /// The column that was meant, perhaps.
        nearest: Option<String>,
        /// The columns that exist.
        columns: Vec<String>,
    },
    /// A condition lacks its value or has one of the wrong kind.
    #[error("the condition on `{column}` with `{operator}` needs {needs}")]
    BadCondition {
        /// The column of the condition.
        column: String,
        /// Its operator.
        operator: String,
        /// What it needs.
        needs: &'static str,
    },
    /// An aggregate needs a column.
    #[error("the aggregate `{function}` needs a `column`: only `count` works without one")]
    AggregateWithoutColumn {
        /// The aggregate's function.
        function: &'static str,
    },
    /// Two columns of the result would have one name.
    #[error("two columns of the result would be called `{name}`: give one of them another `as`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A value that must be a number is none.
    #[error(
        "`{column}` holds `{value}`, which is no number, so it has no `{function}`: filter those \
         rows out first"
    )]
    NotANumber {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The aggregate's function.
        function: &'static str,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

fn list(columns: &[String]) -> String {
    const SHOWN: usize = 30;
    let shown: Vec<String> = columns
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if columns.len() > SHOWN { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

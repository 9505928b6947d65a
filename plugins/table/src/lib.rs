//! The skill `table`: two pure tools over CSV and JSON in the arguments. `query` answers
//! with a structure that has a schema, `convert` with text. Arguments are structs of their
//! own here, which suits tools with many of them.

pub mod aggregate;
pub mod cell;
pub mod condition;
pub mod error;
pub mod model;
pub mod question;
pub mod read;
pub mod write;

use prx_skill::prelude::*;
use serde_json::{Map, Value, json};

use crate::aggregate::Aggregate;
use crate::condition::Condition;
use crate::error::TableError;
use crate::model::{Format, InputFormat};
use crate::question::{Question, SortKey};

/// Rows that one answer holds at most.
const MAX_ROWS: usize = 1000;

/// Filter, group, sort and select the rows of a CSV or JSON table, and compute sums, means and
/// counts.
///
/// The steps are done in this order: `filter`, `group_by` with `aggregates`, `sort`, `offset`
/// and `limit`, `select`. For example, the total of each city: `{"input": "city,price\nBonn,3",
/// "group_by": ["city"], "aggregates": [{"function": "sum", "column": "price"}]}`.
#[tool(
    title = "Query a table",
    read_only,
    destructive = false,
    idempotent,
    open_world = false
)]
fn query(#[arguments] arguments: QueryArguments) -> Result<Structured<QueryAnswer>, ToolError> {
    let QueryArguments {
        input,
        from,
        delimiter,
        ..
    } = &arguments;
    let table = read::read(input, *from, delimiter.as_deref()).map_err(tool_error)?;
    log::field("rows", table.rows.len())
        .field("columns", table.columns.len())
        .debug("read a table");
    let QueryArguments {
        filter,
        group_by,
        aggregates,
        sort,
        select,
        offset,
        limit,
        ..
    } = arguments;
    let limit = limit.min(MAX_ROWS);
    let question = Question {
        filter,
        group_by,
        aggregates,
        sort,
        select,
        offset,
        limit,
    };
    let answer = question.run(table).map_err(tool_error)?;
    let shown = answer.table.rows.len();
    let mut text = write::write(&answer.table, Format::Markdown);
    if shown < answer.total {
        text = format!(
            "{text}\n{shown} of {} rows, from row {}\n",
            answer.total,
            offset + 1
        );
    }
    let rows = answer.table.objects().collect();
    let answer = QueryAnswer {
        columns: answer.table.columns,
        rows,
        total: answer.total,
    };
    Ok(Structured::new(answer).text(text))
}

/// Convert a table between CSV, JSON, NDJSON and Markdown.
///
/// Text becomes a number only if that number is written exactly so: `007` and `1.50` stay
/// text, so that nothing is lost on the way back.
#[tool(
    title = "Convert a table",
    read_only,
    destructive = false,
    idempotent,
    open_world = false
)]
fn convert(
    /// The table: CSV with a header line, a JSON array of objects, or one JSON object a line.
    input: &str,
    /// The format wanted.
    to: Format,
    /// The format of `input`; guessed from how it begins if left out.
    from: Option<InputFormat>,
    /// What separates the fields of a CSV `input`, for instance `;`; guessed if left out.
    delimiter: Option<String>,
) -> Result<String, ToolError> {
    let table = read::read(input, from, delimiter.as_deref()).map_err(tool_error)?;
    Ok(write::write(&table, to))
}

/// The arguments of `query`.
#[data(input)]
#[derive(Debug)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    /// The table: CSV with a header line, a JSON array of objects, or one JSON object a line.
    input: String,
    /// Conditions that a row must meet, all of them.
    #[serde(default)]
    filter: Vec<Condition>,
    /// Columns whose equal values make a group; the answer has one row for each group.
    #[serde(default)]
    group_by: Vec<String>,
    /// Values to compute for each group, or for all rows without `group_by`. If left out,
    /// groups are counted.
    #[serde(default)]
    aggregates: Vec<Aggregate>,
    /// Columns to sort by, the most important first.
    #[serde(default)]
    sort: Vec<SortKey>,
    /// Columns to give, in this order; all if left out.
    #[serde(default)]
    select: Vec<String>,
    /// Rows to pass over, to get the next part of a long answer.
    #[serde(default)]
    offset: usize,
    /// Rows to give at most.
    #[serde(default = "default_limit")]
    #[schemars(range(max = 1000))]
    limit: usize,
    /// The format of `input`; guessed from how it begins if left out.
    #[serde(default)]
    from: Option<InputFormat>,
    /// What separates the fields of a CSV `input`, for instance `;`; guessed if left out.
    #[serde(default)]
    delimiter: Option<String>,
}

fn default_limit() -> usize {
    100
}

/// The answer of `query`.
#[data(output)]
#[derive(Clone, Debug, PartialEq)]
struct QueryAnswer {
    /// The names of the columns, in order.
    columns: Vec<String>,
    /// The rows, as objects with these columns.
    rows: Vec<Map<String, Value>>,
    /// How many rows there are without `offset` and `limit`.
    total: usize,
}

fn tool_error(error: TableError) -> ToolError {
    // Whatever is wrong with a table in the arguments, other arguments would be right.
    let answer = ToolError::invalid_arguments(error.to_string());
    match error {
        TableError::UnknownColumn {
            nearest, columns, ..
        } => answer.with_data(json!({ "nearest": nearest, "columns": columns })),
        TableError::RaggedCsv { line, .. } => answer.with_data(json!({ "line": line })),
        _ => answer,
    }
}

prx_skill::skill!(query, convert);

#[cfg(test)]
mod tests;

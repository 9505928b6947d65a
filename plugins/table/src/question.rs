//! Asks a table: filter, group, sort, page and select, in this order.

use std::collections::{HashMap, HashSet};

use prx_skill::prelude::*;
use serde_json::Value;

use crate::aggregate::Aggregate;
use crate::cell;
use crate::condition::Condition;
use crate::error::TableError;
use crate::model::Table;

/// A question to a table.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Conditions that a row must meet, all of them.
    pub filter: Vec<Condition>,
    /// Columns whose equal values make a group.
    pub group_by: Vec<String>,
    /// Values computed for each group; for all rows, if there are no groups.
    pub aggregates: Vec<Aggregate>,
    /// By what the rows are ordered, the first first.
    pub sort: Vec<SortKey>,
    /// Columns to give; all if empty.
    pub select: Vec<String>,
    /// Rows to pass over.
    pub offset: usize,
    /// Rows to give at most.
    pub limit: usize,
}

/// A column to sort by.
#[data]
#[derive(Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SortKey {
    /// The column: one of the input, or of the aggregates.
    pub column: String,
    /// Whether the largest comes first.
    #[serde(default)]
    pub descending: bool,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The rows that were asked for.
    pub table: Table,
    /// How many rows there are without `offset` and `limit`.
    pub total: usize,
}

impl Question {
    /// Asks a table.
    pub fn run(&self, mut table: Table) -> Result<Answer, TableError> {
        self.filter(&mut table)?;
        if !self.group_by.is_empty() || !self.aggregates.is_empty() {
            table = self.group(&table)?;
        }
        self.sort(&mut table)?;
        let total = table.rows.len();
        let end = total.min(self.offset.saturating_add(self.limit));
        table.rows.truncate(end);
        table.rows.drain(..self.offset.min(end));
        Ok(Answer {
            table: self.select(table)?,
            total,
        })
    }

    fn filter(&self, table: &mut Table) -> Result<(), TableError> {
        let conditions = self.filter.iter().map(|condition| {
            let place = table.column(&condition.column)?;
            condition.check(place)
        });
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        table
            .rows
            .retain(|row| conditions.iter().all(|condition| condition.holds(row)));
        Ok(())
    }

    fn group(&self, table: &Table) -> Result<Table, TableError> {
        let keys = table.places(&self.group_by)?;
        let counting = [Aggregate::count()];
        let aggregates: &[Aggregate] = if self.aggregates.is_empty() {
            &counting
        } else {
            &self.aggregates
        };
        let mut sources = Vec::new();
        for aggregate in aggregates {
            let column = aggregate.column.as_deref();
            sources.push(column.map(|column| table.column(column)).transpose()?);
        }
        let mut columns = self.group_by.clone();
        columns.extend(aggregates.iter().map(Aggregate::result_name));
        different(&columns)?;
        let mut rows = Vec::new();
        for group in groups(table, &keys) {
            let first = group.first();
            let mut row: Vec<Value> = keys
                .iter()
                .filter_map(|place| Some(first?[*place].clone()))
                .collect();
            for (aggregate, source) in aggregates.iter().zip(&sources) {
                row.push(aggregate.compute(*source, &group)?);
            }
            rows.push(row);
        }
        Ok(Table { columns, rows })
    }

    fn sort(&self, table: &mut Table) -> Result<(), TableError> {
        let keys = self
            .sort
            .iter()
            .map(|key| Ok((table.column(&key.column)?, key.descending)));
        let keys = keys.collect::<Result<Vec<_>, TableError>>()?;
        table.rows.sort_by(|a, b| {
            let orders = keys.iter().map(|(place, descending)| {
                let (a, b) = (&a[*place], &b[*place]);
                // Empty cells come last in both directions: they are not what is looked for.
                cell::is_empty(a).cmp(&cell::is_empty(b)).then_with(|| {
                    let order = cell::order(a, b);
                    if *descending { order.reverse() } else { order }
                })
            });
            orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        Ok(())
    }

    fn select(&self, table: Table) -> Result<Table, TableError> {
        if self.select.is_empty() {
            return Ok(table);
        }
        different(&self.select)?;
        let places = table.places(&self.select)?;
        let row = |row: Vec<Value>| places.iter().map(|place| row[*place].clone()).collect();
        let rows = table.rows.into_iter().map(row).collect();
        Ok(Table {
            columns: self.select.clone(),
            rows,
        })
    }
}

fn different(names: &[String]) -> Result<(), TableError> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(TableError::DuplicateName { name: name.clone() }),
        None => Ok(()),
    }
}

/// The rows with equal values at `keys`, in the order in which these first occur. Without
/// keys all rows are one group, even if there are none.
fn groups<'a>(table: &'a Table, keys: &[usize]) -> Vec<Vec<&'a [Value]>> {
    let mut groups: Vec<Vec<&[Value]>> = Vec::new();
    if keys.is_empty() {
        groups.push(Vec::new());
    }
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    for row in &table.rows {
        let place = if keys.is_empty() {
            0
        } else {
            // The JSON text tells 1 from "1" and null from "".
            let key = keys.iter().map(|place| row[*place].to_string()).collect();
            *places.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            })
        };
        groups[place].push(row);
    }
    groups
}

#[cfg(test)]
mod tests;

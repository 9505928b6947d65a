//! Reads a table from text: CSV, JSON or NDJSON, told apart by how the text begins.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::cell;
use crate::error::TableError;
use crate::model::{InputFormat, Table};

/// Reads `input`; what is not told about it is guessed from it.
pub fn read(
    input: &str,
    format: Option<InputFormat>,
    delimiter: Option<&str>,
) -> Result<Table, TableError> {
    let input = input.trim_start_matches('\u{feff}');
    if input.trim().is_empty() {
        return Err(TableError::Empty);
    }
    match format.unwrap_or_else(|| guess(input)) {
        InputFormat::Csv => read_csv(input, delimiter),
        InputFormat::Json => read_json(input),
        InputFormat::Ndjson => read_ndjson(input),
    }
}

fn guess(input: &str) -> InputFormat {
    match input.trim_start().as_bytes().first() {
        Some(b'[') => InputFormat::Json,
        Some(b'{') => {
            // Several objects, each complete on its line, or one over many lines.
            let first = input.trim_start().lines().next().unwrap_or_default();
            let more = input.trim().lines().count() > 1;
            let complete = serde_json::from_str::<prx_skill::serde::de::IgnoredAny>(first).is_ok();
            if more && complete {
                InputFormat::Ndjson
            } else {
                InputFormat::Json
            }
        }
        _ => InputFormat::Csv,
    }
}

fn read_csv(input: &str, delimiter: Option<&str>) -> Result<Table, TableError> {
    let delimiter = match delimiter {
        None => guess_delimiter(input),
        Some("\\t") => b'\t',
        Some(text) => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => *byte,
            _ => {
                return Err(TableError::BadDelimiter {
                    delimiter: text.to_owned(),
                });
            }
        },
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(input.as_bytes());
    let mut records = reader.records();
    let bad = |error: csv::Error| TableError::BadCsv {
        why: error.to_string(),
    };
    let header = records.next().ok_or(TableError::Empty)?.map_err(bad)?;
    let columns = column_names(header.iter());
    let mut rows = Vec::new();
    for record in records {
        let record = record.map_err(bad)?;
        if record.len() != columns.len() {
            return Err(TableError::RaggedCsv {
                line: record.position().map_or(0, csv::Position::line),
                found: record.len(),
                expected: columns.len(),
                delimiter: char::from(delimiter),
            });
        }
        rows.push(record.iter().map(cell::from_text).collect());
    }
    Ok(Table { columns, rows })
}

/// The likely delimiter that the header line has most of, outside of quotes.
fn guess_delimiter(input: &str) -> u8 {
    const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
    let mut counts = [0_usize; CANDIDATES.len()];
    let mut quoted = false;
    for byte in input.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            byte if !quoted => {
                if let Some(place) = CANDIDATES.iter().position(|candidate| *candidate == byte) {
                    counts[place] += 1;
                }
            }
            _ => {}
        }
    }
    // The first of equals, so that a header without any of them is taken for commas.
    let best = (0..CANDIDATES.len())
        .rev()
        .max_by_key(|place| counts[*place]);
    CANDIDATES[best.unwrap_or(0)]
}

/// The header's names, with names for the nameless and numbers for the repeated.
fn column_names<'a>(header: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut taken = HashSet::new();
    for (index, field) in header.enumerate() {
        let base = if field.is_empty() {
            format!("column_{}", index + 1)
        } else {
            field.to_owned()
        };
        let mut name = base.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        names.push(name);
    }
    names
}

fn read_json(input: &str) -> Result<Table, TableError> {
    let value: Value = serde_json::from_str(input).map_err(|error| TableError::BadJson {
        format: "JSON",
        why: error.to_string(),
    })?;
    from_values(match value {
        Value::Array(values) => values,
        single => vec![single],
    })
}

fn read_ndjson(input: &str) -> Result<Table, TableError> {
    let lines = input
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let values = lines.map(|(index, line)| {
        serde_json::from_str(line).map_err(|error| TableError::BadJson {
            format: "NDJSON",
            why: format!("line {}: {error}", index + 1),
        })
    });
    from_values(values.collect::<Result<_, _>>()?)
}

fn from_values(values: Vec<Value>) -> Result<Table, TableError> {
    let mut objects = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        match value {
            Value::Object(object) => objects.push(object),
            other => {
                return Err(TableError::NotAnObject {
                    row: index + 1,
                    found: kind_of(&other),
                });
            }
        }
    }
    let mut columns: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for key in objects.iter().flat_map(Map::keys) {
        if known.insert(key.as_str()) {
            columns.push(key.clone());
        }
    }
    if columns.is_empty() && !objects.is_empty() {
        return Err(TableError::NoColumns);
    }
    let row = |mut object: Map<String, Value>| {
        columns
            .iter()
            .map(|column| object.remove(column).unwrap_or(Value::Null))
            .collect()
    };
    let rows = objects.into_iter().map(row).collect();
    Ok(Table { columns, rows })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;

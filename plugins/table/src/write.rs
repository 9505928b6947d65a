//! Writes a table as text. What [`read`](crate::read::read) reads, this writes.

use crate::cell;
use crate::model::{Format, Table};

/// The text of a table.
pub fn write(table: &Table, format: Format) -> String {
    match format {
        Format::Csv => write_csv(table),
        Format::Json => write_json(table),
        Format::Ndjson => table.objects().map(|row| to_json(&row) + "\n").collect(),
        Format::Markdown => write_markdown(table),
    }
}

fn write_csv(table: &Table) -> String {
    if table.columns.is_empty() {
        return String::new();
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = table
        .rows
        .iter()
        .map(|row| row.iter().map(cell::to_text).collect());
    for record in std::iter::once(table.columns.clone()).chain(rows) {
        writer
            .write_record(&record)
            .expect("a vector takes every record, all of one length");
    }
    let bytes = writer.into_inner().expect("a vector can be flushed");
    String::from_utf8(bytes).expect("made of strings")
}

/// One object on each line: valid JSON that people and differences can read.
fn write_json(table: &Table) -> String {
    let rows: Vec<String> = table
        .objects()
        .map(|row| format!("  {}", to_json(&row)))
        .collect();
    if rows.is_empty() {
        "[]\n".to_owned()
    } else {
        format!("[\n{}\n]\n", rows.join(",\n"))
    }
}

fn to_json(row: &serde_json::Map<String, serde_json::Value>) -> String {
    serde_json::to_string(row).expect("JSON values have a text")
}

fn write_markdown(table: &Table) -> String {
    if table.columns.is_empty() {
        return String::new();
    }
    let line = |fields: Vec<String>| format!("| {} |\n", fields.join(" | "));
    let mut text = line(table.columns.iter().map(|name| escape(name)).collect());
    text += &line(
        (0..table.columns.len())
            .map(|place| rule(table, place).to_owned())
            .collect(),
    );
    for row in &table.rows {
        text += &line(
            row.iter()
                .map(|value| escape(&cell::to_text(value)))
                .collect(),
        );
    }
    text
}

/// The line under the header; columns of numbers are aligned to the right.
fn rule(table: &Table, place: usize) -> &'static str {
    let mut values = table
        .rows
        .iter()
        .map(|row| &row[place])
        .filter(|cell| !cell.is_null())
        .peekable();
    if values.peek().is_some() && values.all(serde_json::Value::is_number) {
        "---:"
    } else {
        "---"
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace("\r\n", "<br>")
        .replace(['\n', '\r'], "<br>")
}

#[cfg(test)]
mod tests {
    use proptest::collection::{hash_set, vec};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::InputFormat;
    use crate::read::read;

    fn table() -> Table {
        Table {
            columns: vec!["name".into(), "n".into()],
            rows: vec![
                vec![json!("a|b\nc"), json!(1)],
                vec![json!("x, \"y\""), json!(null)],
            ],
        }
    }

    #[test]
    fn a_table_has_four_faces() {
        let table = table();
        assert_eq!(
            write(&table, Format::Csv),
            "name,n\n\"a|b\nc\",1\n\"x, \"\"y\"\"\",\n"
        );
        let json =
            "[\n  {\"name\":\"a|b\\nc\",\"n\":1},\n  {\"name\":\"x, \\\"y\\\"\",\"n\":null}\n]\n";
        assert_eq!(write(&table, Format::Json), json);
        let ndjson = "{\"name\":\"a|b\\nc\",\"n\":1}\n{\"name\":\"x, \\\"y\\\"\",\"n\":null}\n";
        assert_eq!(write(&table, Format::Ndjson), ndjson);
        let markdown = "| name | n |\n| --- | ---: |\n| a\\|b<br>c | 1 |\n| x, \"y\" |  |\n";
        assert_eq!(write(&table, Format::Markdown), markdown);
    }

    #[test]
    fn a_table_without_columns_is_written_as_nothing_or_an_empty_array() {
        let empty = Table::default();
        let texts = [Format::Csv, Format::Json, Format::Ndjson, Format::Markdown]
            .map(|format| write(&empty, format));
        assert_eq!(texts, ["", "[]\n", "", ""]);
    }

    /// Tables with any names and any of the cells that `cells` makes.
    fn tables(
        cells: impl Strategy<Value = Value> + Clone + 'static,
    ) -> impl Strategy<Value = Table> {
        hash_set("\\PC{1,8}", 1..5).prop_flat_map(move |names| {
            let columns: Vec<String> = names.into_iter().collect();
            let rows = vec(vec(cells.clone(), columns.len()), 0..6);
            rows.prop_map(move |rows| Table {
                columns: columns.clone(),
                rows,
            })
        })
    }

    /// Cells that can come from CSV: all of them typed as `cell` types text.
    fn csv_cells() -> impl Strategy<Value = Value> + Clone {
        prop_oneof![
            any::<String>(),
            "[-0-9.e]{0,5}",
            "(true|false|[\",;\r\n]){0,3}"
        ]
        .prop_map(|text| cell::from_text(&text))
    }

    /// Cells that only JSON tells apart.
    fn json_cells() -> impl Strategy<Value = Value> + Clone {
        prop_oneof![
            csv_cells(),
            any::<String>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            vec(any::<i8>(), 0..3).prop_map(Value::from),
        ]
    }

    const JSON_FORMATS: [(Format, InputFormat); 2] = [
        (Format::Json, InputFormat::Json),
        (Format::Ndjson, InputFormat::Ndjson),
    ];

    fn read_back(text: &str, format: InputFormat) -> Result<Table, TestCaseError> {
        // A guessed delimiter would depend on what is in the names.
        read(text, Some(format), Some(",")).map_err(|error| TestCaseError::fail(error.to_string()))
    }

    proptest! {
        #[test]
        fn csv_to_json_and_back_is_the_same_table(table in tables(csv_cells())) {
            let csv = write(&table, Format::Csv);
            prop_assert_eq!(&read_back(&csv, InputFormat::Csv)?, &table);
            prop_assume!(!table.rows.is_empty());
            for (format, input) in JSON_FORMATS {
                let there = read_back(&write(&table, format), input)?;
                prop_assert_eq!(&there, &table);
                prop_assert_eq!(&write(&there, Format::Csv), &csv);
            }
        }

        #[test]
        fn json_keeps_what_csv_can_not_tell_apart(table in tables(json_cells())) {
            prop_assume!(!table.rows.is_empty());
            for (format, input) in JSON_FORMATS {
                prop_assert_eq!(&read_back(&write(&table, format), input)?, &table);
            }
        }

        #[test]
        fn markdown_has_one_line_for_each_row(table in tables(csv_cells())) {
            let lines = write(&table, Format::Markdown).lines().count();
            prop_assert_eq!(lines, table.rows.len() + 2);
        }
    }
}

//! Tables from text, well and badly formed.

use serde_json::json;

use super::*;

fn table(input: &str) -> Table {
    read(input, None, None).unwrap()
}

#[test]
fn csv_fields_get_types_and_quotes_protect_delimiters() {
    let table = table("\u{feff}name,n,ok\n\"a, b\",1,true\r\n\"x\ny\",,false\n");
    assert_eq!(table.columns, ["name", "n", "ok"]);
    assert_eq!(table.rows[0], [json!("a, b"), json!(1), json!(true)]);
    assert_eq!(table.rows[1], [json!("x\ny"), json!(null), json!(false)]);
}

#[test]
fn the_delimiter_is_guessed_from_the_header() {
    for input in ["a;b\n1,5;2", "a\tb\n1,5\t2", "a|b\n1,5|2", "\"a,x\";b\n1;2"] {
        assert_eq!(table(input).columns.len(), 2, "{input:?}");
    }
    assert_eq!(table("a\n1").columns, ["a"]);
    assert_eq!(
        read("a;b,c\n1;2,3", None, Some(",")).unwrap().columns,
        ["a;b", "c"]
    );
    for delimiter in ["", ",,", "\u{e4}", "\""] {
        let error = read("a\n1", None, Some(delimiter)).unwrap_err();
        assert!(matches!(error, TableError::BadDelimiter { .. }), "{error}");
    }
}

#[test]
fn missing_and_repeated_column_names_are_made_different() {
    assert_eq!(
        table("a,,a,a_2\n1,2,3,4").columns,
        ["a", "column_2", "a_2", "a_2_2"]
    );
}

#[test]
fn a_ragged_line_is_named() {
    let error = read("a,b\n1,2\n\"x\ny\",2\n1,2,3\n", None, None).unwrap_err();
    let expected = TableError::RaggedCsv {
        line: 5,
        found: 3,
        expected: 2,
        delimiter: ',',
    };
    assert_eq!(error, expected);
}

#[test]
fn json_rows_may_have_different_fields() {
    let table = table(r#"[{"a": 1, "b": {"c": 2}}, {"d": "x", "a": null}]"#);
    assert_eq!(table.columns, ["a", "b", "d"]);
    assert_eq!(table.rows[0], [json!(1), json!({"c": 2}), json!(null)]);
    assert_eq!(table.rows[1], [json!(null), json!(null), json!("x")]);
}

#[test]
fn one_object_is_a_table_of_one_row_however_it_is_laid_out() {
    assert_eq!(table("{\n \"a\": 1\n}").rows, [[json!(1)]]);
    assert_eq!(table("{\"a\": 1}").rows, [[json!(1)]]);
    assert_eq!(
        table("{\"a\": 1}\n\n{\"a\": 2}\n").rows,
        [[json!(1)], [json!(2)]]
    );
}

#[test]
fn an_empty_array_is_an_empty_table() {
    assert_eq!(table("[]"), Table::default());
}

#[test]
fn rows_that_are_no_objects_are_named() {
    let error = read(r#"[{"a": 1}, [2]]"#, None, None).unwrap_err();
    assert_eq!(
        error,
        TableError::NotAnObject {
            row: 2,
            found: "an array"
        }
    );
    assert_eq!(read("[{}]", None, None).unwrap_err(), TableError::NoColumns);
}

#[test]
fn malformed_input_says_where_it_breaks() {
    let error = read("{\"a\": 1}\n{\"a\": }", None, None).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    let error = read("[{\"a\": 1", None, None).unwrap_err();
    assert!(
        matches!(error, TableError::BadJson { format: "JSON", .. }),
        "{error}"
    );
    assert_eq!(read(" \n", None, None).unwrap_err(), TableError::Empty);
}

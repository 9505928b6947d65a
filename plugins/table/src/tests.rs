//! The tools as a host calls them: JSON in, contents and structure out.

use prx_skill::ErrorKind;
use prx_skill::testing;
use serde_json::from_str;

use super::*;

const SALES: &str = "city,price\nBonn,3\nUlm,5\nBonn,4.5\n";

#[allow(
    clippy::needless_pass_by_value,
    reason = "literals read better by value"
)]
fn call(tool: &str, arguments: Value) -> Result<(String, Option<Value>), ToolError> {
    let output = testing::call(&SKILL, tool, arguments.clone())?;
    let Content::Text(text) = &output.contents[0] else {
        panic!("{output:?}")
    };
    let answer: Option<Value> = output.structured.map(|json| from_str(&json).unwrap());
    let tools = SKILL.describe();
    let spec = tools.iter().find(|spec| spec.name == tool).unwrap();
    jsonschema::validate(spec.input_schema.as_value(), &arguments).unwrap();
    if let (Some(answer), Some(schema)) = (&answer, &spec.output_schema) {
        jsonschema::validate(schema.as_value(), answer).unwrap();
    }
    Ok((text.clone(), answer))
}

#[test]
fn a_query_answers_a_table_to_read_and_rows_to_compute_with() {
    let (text, rows) = call(
        "query",
        json!({
            "input": SALES,
            "group_by": ["city"],
            "aggregates": [{"function": "sum", "column": "price", "as": "total"}],
            "sort": [{"column": "total", "descending": true}],
        }),
    )
    .unwrap();
    assert_eq!(
        text,
        "| city | total |\n| --- | ---: |\n| Bonn | 7.5 |\n| Ulm | 5 |\n"
    );
    let expected = json!({
        "columns": ["city", "total"],
        "rows": [{"city": "Bonn", "total": 7.5}, {"city": "Ulm", "total": 5}],
        "total": 2,
    });
    assert_eq!(rows, Some(expected));
}

#[test]
fn a_part_of_the_rows_says_of_how_many() {
    let (text, rows) = call("query", json!({"input": SALES, "limit": 1, "offset": 1})).unwrap();
    assert!(text.ends_with("\n1 of 3 rows, from row 2\n"), "{text}");
    assert_eq!(rows.unwrap()["total"], 3);
}

#[test]
fn conditions_take_values_of_every_type() {
    for (condition, rows) in [
        (json!({"column": "price", "op": "gt", "value": 4}), 2),
        (json!({"column": "city", "value": "Ulm"}), 1),
        (
            json!({"column": "city", "op": "in", "value": ["Ulm", "Kiel"]}),
            1,
        ),
        (json!({"column": "city", "op": "not_empty"}), 3),
    ] {
        let arguments = json!({"input": SALES, "filter": [condition]});
        assert_eq!(
            call("query", arguments).unwrap().1.unwrap()["total"],
            rows,
            "{condition}"
        );
    }
}

#[test]
fn tables_are_converted_in_all_directions() {
    let csv = "a,b\n1,007\n";
    for (to, text) in [
        ("json", "[\n  {\"a\":1,\"b\":\"007\"}\n]\n"),
        ("ndjson", "{\"a\":1,\"b\":\"007\"}\n"),
        ("markdown", "| a | b |\n| ---: | --- |\n| 1 | 007 |\n"),
        ("csv", csv),
    ] {
        let converted = call("convert", json!({"input": csv, "to": to})).unwrap();
        assert_eq!(converted, (text.to_owned(), None));
        if to != "markdown" {
            assert_eq!(
                call("convert", json!({"input": text, "to": "csv"}))
                    .unwrap()
                    .0,
                csv
            );
        }
    }
}

#[test]
fn errors_carry_what_repairs_the_call() {
    let error = call("query", json!({"input": SALES, "select": ["prize"]})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    let data: Value = from_str(error.data().unwrap()).unwrap();
    assert_eq!(
        data,
        json!({"nearest": "price", "columns": ["city", "price"]})
    );
    let error = call("convert", json!({"input": "a,b\n1", "to": "json"})).unwrap_err();
    assert_eq!(error.data(), Some("{\"line\":2}"));
    let wrong = json!({"input": SALES, "filter": [{"column": "city", "op": "like", "value": "B"}]});
    let error = call("query", wrong).unwrap_err();
    assert!(error.message().contains("starts_with"), "{error}");
}

#[test]
fn the_schemas_name_every_argument_operator_and_function() {
    let tools = SKILL.describe();
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["query", "convert"]);
    for tool in &tools {
        assert!(tool.requests.is_empty());
        let properties = &tool.input_schema.as_value()["properties"];
        for (name, parameter) in properties.as_object().unwrap() {
            assert!(parameter["description"].is_string(), "{name}: {parameter}");
        }
    }
    let input = tools[0].input_schema.as_value().to_string();
    for word in [
        "starts_with",
        "not_empty",
        "distinct",
        "descending",
        "ndjson",
    ] {
        assert!(input.contains(word), "{word}: {input}");
    }
    assert_eq!(
        tools[0].input_schema.as_value()["required"],
        json!(["input"])
    );
    let answer = tools[0].output_schema.as_ref().unwrap().as_value();
    assert_eq!(answer["properties"]["rows"]["type"], "array");
    assert!(tools[1].output_schema.is_none());
}

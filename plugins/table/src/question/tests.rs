//! Questions to a small table of sales.

use serde_json::json;

use super::*;
use crate::aggregate::Function;
use crate::model::Format;
use crate::read::read;
use crate::write::write;

const SALES: &str = "\
city,item,price,sold
Bonn,apple,0.50,2025-06-03
Ulm,pear,0.70,2025-06-01
Bonn,pear,0.80,2025-06-02
Ulm,apple,,2025-06-04
Kiel,apple,10,2025-05-30
";

fn question() -> Question {
    Question {
        limit: 100,
        ..Question::default()
    }
}

fn ask(question: &Question) -> Result<String, TableError> {
    let answer = question.run(read(SALES, None, None)?)?;
    Ok(write(&answer.table, Format::Csv))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn condition(column: &str, op: &str, value: &Value) -> Condition {
    serde_json::from_value(json!({"column": column, "op": op, "value": value})).unwrap()
}

fn by(column: &str, descending: bool) -> SortKey {
    SortKey {
        column: column.to_owned(),
        descending,
    }
}

fn aggregate(function: Function, column: &str) -> Aggregate {
    Aggregate {
        function,
        column: Some(column.to_owned()),
        name: None,
    }
}

#[test]
fn an_empty_question_gives_the_table() {
    assert_eq!(ask(&question()).unwrap(), SALES);
}

#[test]
fn rows_are_filtered_by_all_conditions_and_columns_selected_in_the_order_asked_for() {
    let question = Question {
        filter: vec![
            condition("price", "lt", &json!(1)),
            condition("sold", "ge", &json!("2025-06-02")),
        ],
        select: names(&["item", "city"]),
        ..question()
    };
    assert_eq!(
        ask(&question).unwrap(),
        "item,city\napple,Bonn\npear,Bonn\n"
    );
}

#[test]
fn rows_are_sorted_by_value_and_empty_cells_come_last() {
    let prices = |descending| {
        let sort = vec![by("price", descending)];
        let question = Question {
            sort,
            select: names(&["price"]),
            ..question()
        };
        ask(&question).unwrap().replace('\n', " ")
    };
    assert_eq!(prices(false), "price 0.50 0.70 0.80 10 \"\" ");
    assert_eq!(prices(true), "price 10 0.80 0.70 0.50 \"\" ");
}

#[test]
fn a_second_key_decides_between_equals() {
    let sort = vec![by("city", false), by("sold", true)];
    let question = Question {
        sort,
        select: names(&["sold"]),
        ..question()
    };
    let expected = "sold\n2025-06-03\n2025-06-02\n2025-05-30\n2025-06-04\n2025-06-01\n";
    assert_eq!(ask(&question).unwrap(), expected);
}

#[test]
fn a_page_is_cut_from_the_whole_and_the_total_told() {
    for (offset, limit, rows) in [
        (0, 2, 2),
        (4, 2, 1),
        (9, 2, 0),
        (1, usize::MAX, 4),
        (0, 0, 0),
    ] {
        let answer = Question {
            offset,
            limit,
            ..question()
        }
        .run(read(SALES, None, None).unwrap());
        let answer = answer.unwrap();
        assert_eq!(
            (answer.table.rows.len(), answer.total),
            (rows, 5),
            "{offset} {limit}"
        );
    }
}

#[test]
fn groups_come_in_the_order_of_the_table_with_their_aggregates() {
    let question = Question {
        group_by: names(&["city"]),
        aggregates: vec![
            Aggregate::count(),
            aggregate(Function::Sum, "price"),
            Aggregate {
                name: Some("last".into()),
                ..aggregate(Function::Max, "sold")
            },
        ],
        ..question()
    };
    let expected = "\
city,count,sum_price,last
Bonn,2,1.3,2025-06-03
Ulm,2,0.7,2025-06-04
Kiel,1,10,2025-05-30
";
    assert_eq!(ask(&question).unwrap(), expected);
}

#[test]
fn groups_can_be_sorted_by_an_aggregate_and_are_counted_by_default() {
    let sort = vec![by("count", true)];
    let question = Question {
        group_by: names(&["item"]),
        sort,
        ..question()
    };
    assert_eq!(ask(&question).unwrap(), "item,count\napple,3\npear,2\n");
}

#[test]
fn aggregates_without_groups_give_one_row_even_of_nothing() {
    let aggregates = vec![Aggregate::count(), aggregate(Function::Avg, "price")];
    let all = Question {
        aggregates: aggregates.clone(),
        ..question()
    };
    assert_eq!(ask(&all).unwrap(), "count,avg_price\n5,3.0\n");
    let filter = vec![condition("city", "eq", &json!("Rome"))];
    let nothing = Question {
        filter,
        aggregates,
        ..question()
    };
    assert_eq!(ask(&nothing).unwrap(), "count,avg_price\n0,\n");
}

#[test]
fn unknown_columns_are_named_wherever_they_occur() {
    let wrong = || "prise".to_owned();
    for question in [
        Question {
            select: vec![wrong()],
            ..question()
        },
        Question {
            group_by: vec![wrong()],
            ..question()
        },
        Question {
            sort: vec![by("prise", false)],
            ..question()
        },
        Question {
            filter: vec![condition("prise", "eq", &json!(1))],
            ..question()
        },
        Question {
            aggregates: vec![aggregate(Function::Sum, "prise")],
            ..question()
        },
    ] {
        let error = ask(&question).unwrap_err();
        assert!(
            error.to_string().contains("did you mean `price`?"),
            "{error}"
        );
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let aggregates = vec![
        aggregate(Function::Sum, "price"),
        aggregate(Function::Sum, "price"),
    ];
    for question in [
        Question {
            select: names(&["city", "city"]),
            ..question()
        },
        Question {
            aggregates,
            ..question()
        },
    ] {
        let error = ask(&question).unwrap_err();
        assert!(matches!(error, TableError::DuplicateName { .. }), "{error}");
    }
}

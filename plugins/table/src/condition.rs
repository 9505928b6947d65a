//! Conditions on one cell.

use std::cmp::Ordering;

use prx_skill::prelude::*;
use serde_json::{Number, Value};

use crate::cell::{self, Numeric};
use crate::error::TableError;

/// A condition that a row must meet.
#[data]
#[derive(Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The column that is looked at.
    pub column: String,
    /// How the cell is compared.
    #[serde(default)]
    pub op: Operator,
    /// What the cell is compared with; a list for `in`, nothing for `empty` and `not_empty`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Operand>,
}

/// How a cell is compared with the value of a condition.
#[data]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// Equal: numbers by value, text letter by letter.
    #[default]
    Eq,
    /// Not equal.
    Ne,
    /// Less: numbers by value, text by alphabet, which suits dates such as 2025-06-30.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// The text holds this text, upper and lower case taken as one.
    Contains,
    /// The text begins with this text, upper and lower case taken as one.
    StartsWith,
    /// The text ends with this text, upper and lower case taken as one.
    EndsWith,
    /// Equal to one of a list.
    In,
    /// Nothing is in the cell.
    Empty,
    /// Something is in the cell.
    NotEmpty,
}

/// What a cell is compared with.
#[data]
#[derive(Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum Operand {
    /// One value.
    Single(Scalar),
    /// Several values, for `in`.
    List(Vec<Scalar>),
}

/// One value.
#[data]
#[derive(Clone, Debug, PartialEq)]
#[serde(untagged)]
pub enum Scalar {
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

/// A condition whose value was found to fit its operator.
#[derive(Clone, Debug)]
pub struct Checked {
    place: usize,
    operator: Operator,
    values: Vec<Value>,
}

impl Condition {
    /// Checks the value against the operator; `place` is where the column is.
    pub fn check(&self, place: usize) -> Result<Checked, TableError> {
        use Operator as O;
        let bad = |needs| {
            let operator = serde_json::to_value(self.op).unwrap_or_default();
            let operator = operator.as_str().unwrap_or_default().to_owned();
            Err(TableError::BadCondition {
                column: self.column.clone(),
                operator,
                needs,
            })
        };
        let values = match (self.op, &self.value) {
            (O::Empty | O::NotEmpty, None) => Vec::new(),
            (O::Empty | O::NotEmpty, Some(_)) => return bad("no `value`"),
            (O::In, Some(Operand::List(list))) => list.iter().map(Scalar::to_value).collect(),
            (O::In, _) => return bad("a list as `value`"),
            (_, None) => return bad("a `value`; `empty` finds cells without one"),
            (_, Some(Operand::List(_))) => return bad("a single `value`; `in` takes a list"),
            (O::Contains | O::StartsWith | O::EndsWith, Some(Operand::Single(single))) => {
                vec![Value::from(
                    cell::to_text(&single.to_value()).to_lowercase(),
                )]
            }
            (_, Some(Operand::Single(single))) => vec![single.to_value()],
        };
        Ok(Checked {
            place,
            operator: self.op,
            values,
        })
    }
}

impl Scalar {
    fn to_value(&self) -> Value {
        match self {
            Self::Boolean(boolean) => Value::from(*boolean),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::from(text.as_str()),
        }
    }
}

impl Checked {
    /// Whether a row meets the condition.
    pub fn holds(&self, row: &[Value]) -> bool {
        let cell = &row[self.place];
        let any_equal = || self.values.iter().any(|value| equal(cell, value));
        let text = || cell::to_text(cell).to_lowercase();
        let ordered = |wanted: fn(Ordering) -> bool| {
            self.values
                .first()
                .and_then(|value| compare(cell, value))
                .is_some_and(wanted)
        };
        let wanted_text = self
            .values
            .first()
            .and_then(Value::as_str)
            .unwrap_or_default();
        match self.operator {
            Operator::Eq | Operator::In => any_equal(),
            Operator::Ne => !any_equal(),
            Operator::Lt => ordered(Ordering::is_lt),
            Operator::Le => ordered(Ordering::is_le),
            Operator::Gt => ordered(Ordering::is_gt),
            Operator::Ge => ordered(Ordering::is_ge),
            Operator::Contains => text().contains(wanted_text),
            Operator::StartsWith => text().starts_with(wanted_text),
            Operator::EndsWith => text().ends_with(wanted_text),
            Operator::Empty => cell::is_empty(cell),
            Operator::NotEmpty => !cell::is_empty(cell),
        }
    }
}

/// Two texts are equal letter by letter; as soon as one side is a number, values count.
fn equal(cell: &Value, value: &Value) -> bool {
    let same_text = cell::to_text(cell) == cell::to_text(value) && !cell.is_null();
    let numeric = cell.is_number() || value.is_number();
    same_text || (numeric && compare(cell, value) == Some(Ordering::Equal))
}

/// The order of two cells that can be compared: numbers, or two texts.
fn compare(cell: &Value, value: &Value) -> Option<Ordering> {
    match (Numeric::of(cell), Numeric::of(value)) {
        (Some(a), Some(b)) => Some(a.order(b)),
        _ => Some(cell.as_str()?.cmp(value.as_str()?)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(
        clippy::needless_pass_by_value,
        reason = "literals read better by value"
    )]
    fn holds(cell: Value, op: &str, value: Value) -> bool {
        let condition: Condition =
            serde_json::from_value(json!({"column": "c", "op": op, "value": value})).unwrap();
        condition.check(0).unwrap().holds(&[cell])
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(holds(json!(10), "gt", json!(9)));
        assert!(holds(json!("1.50"), "eq", json!(1.5)));
        assert!(holds(json!("007"), "eq", json!(7)));
        assert!(holds(json!(7), "eq", json!("7")));
        assert!(holds(json!("10"), "gt", json!("9")));
        assert!(!holds(json!("007"), "eq", json!("7")));
        assert!(holds(json!(1), "ne", json!(2)));
    }

    #[test]
    fn text_is_compared_by_alphabet_so_that_dates_are_ordered() {
        assert!(holds(json!("2025-06-30"), "lt", json!("2025-07-01")));
        assert!(holds(json!("b"), "ge", json!("b")));
        assert!(!holds(json!("b"), "le", json!("a")));
    }

    #[test]
    fn things_that_have_no_order_are_neither_less_nor_greater() {
        for op in ["lt", "le", "gt", "ge"] {
            assert!(!holds(json!("abc"), op, json!(5)), "{op}");
            assert!(!holds(json!(null), op, json!(5)), "{op}");
        }
        assert!(!holds(json!(null), "eq", json!("")));
    }

    #[test]
    fn parts_of_text_are_found_without_regard_to_case() {
        assert!(holds(json!("\u{dc}ber uns"), "contains", json!("BER")));
        assert!(holds(json!("\u{dc}ber"), "starts_with", json!("\u{fc}")));
        assert!(holds(json!(1234), "ends_with", json!(34)));
        assert!(!holds(json!("abc"), "contains", json!("x")));
    }

    #[test]
    fn lists_and_emptiness_have_operators_of_their_own() {
        assert!(holds(json!(2), "in", json!([1, 2])));
        assert!(!holds(json!(3), "in", json!([1, "2"])));
        assert!(holds(json!(true), "eq", json!(true)));
        assert!(holds(json!(true), "eq", json!("true")));
        for (cell, empty) in [(json!(null), true), (json!(""), true), (json!(0), false)] {
            assert_eq!(holds(cell.clone(), "empty", json!(null)), empty);
            assert_eq!(holds(cell, "not_empty", json!(null)), !empty);
        }
    }

    #[test]
    fn a_value_that_does_not_fit_its_operator_is_refused() {
        for (op, value, needs) in [
            ("eq", json!(null), "a `value`"),
            ("eq", json!([1]), "single"),
            ("in", json!(1), "a list"),
            ("empty", json!(1), "no `value`"),
        ] {
            let condition: Condition =
                serde_json::from_value(json!({"column": "c", "op": op, "value": value})).unwrap();
            let error = condition.check(0).unwrap_err().to_string();
            assert!(error.contains(needs) && error.contains(op), "{error}");
        }
    }
}

//! Single values. Invariant: text becomes a number only if that number prints as the very
//! same text, so `007` and `1.50` stay as they were written.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The value of a CSV field.
pub fn from_text(text: &str) -> Value {
    match text {
        "" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => number_from_text(text).map_or_else(|| Value::from(text), Value::Number),
    }
}

fn number_from_text(text: &str) -> Option<Number> {
    let number = if let Ok(integer) = text.parse::<i64>() {
        Number::from(integer)
    } else if let Ok(integer) = text.parse::<u64>() {
        Number::from(integer)
    } else {
        Number::from_f64(text.parse().ok()?)?
    };
    (number.to_string() == text).then_some(number)
}

/// The CSV field of a value.
pub fn to_text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether there is nothing in a cell.
pub fn is_empty(cell: &Value) -> bool {
    cell.is_null() || cell.as_str() == Some("")
}

/// A number for comparing and adding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numeric {
    /// Exact.
    Integer(i128),
    /// As near as 64 bits are. Never NaN or infinite.
    Float(f64),
}

impl Numeric {
    /// The number in a cell: a JSON number, or text that reads as one.
    pub fn of(cell: &Value) -> Option<Self> {
        match cell {
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Some(Self::Integer(integer.into())),
                (_, Some(integer)) => Some(Self::Integer(integer.into())),
                _ => number.as_f64().map(Self::Float),
            },
            Value::String(text) => {
                let text = text.trim();
                if let Ok(integer) = text.parse() {
                    return Some(Self::Integer(integer));
                }
                text.parse()
                    .ok()
                    .filter(|float: &f64| float.is_finite())
                    .map(Self::Float)
            }
            _ => None,
        }
    }

    /// The nearest float.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest float is what is wanted"
    )]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    /// Which of two numbers is larger.
    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (a, b) => a
                .as_f64()
                .partial_cmp(&b.as_f64())
                .unwrap_or(Ordering::Equal),
        }
    }
}

/// The order of any two cells that hold something: numbers, then text, then the rest by
/// their JSON text.
pub fn order(a: &Value, b: &Value) -> Ordering {
    match (Numeric::of(a), Numeric::of(b)) {
        (Some(a), Some(b)) => a.order(b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.to_string().cmp(&b.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_text_that_a_number_would_print_becomes_a_number() {
        for (text, cell) in [
            ("", Value::Null),
            ("7", json!(7)),
            ("-7", json!(-7)),
            ("18446744073709551615", json!(u64::MAX)),
            ("0.1", json!(0.1)),
            ("1.0", json!(1.0)),
            ("true", json!(true)),
        ] {
            assert_eq!(from_text(text), cell, "{text}");
        }
        for text in [
            "007",
            "1.50",
            "+1",
            "1e5",
            "-0",
            "NaN",
            "inf",
            "True",
            " 1",
            "18446744073709551616",
        ] {
            assert_eq!(from_text(text), json!(text));
        }
    }

    #[test]
    fn numbers_compare_by_value_however_they_are_written() {
        let equal = |a: Value, b: Value| order(&a, &b) == Ordering::Equal;
        assert!(equal(json!("1.50"), json!(1.5)));
        assert!(equal(json!("007"), json!(7)));
        assert_eq!(order(&json!(9), &json!("10")), Ordering::Less);
        // These two are the same float.
        let (a, b) = (
            json!(9_007_199_254_740_993_i64),
            json!(9_007_199_254_740_992_i64),
        );
        assert_eq!(order(&a, &b), Ordering::Greater);
    }

    #[test]
    fn numbers_come_before_text_and_text_before_the_rest() {
        let mut cells = [
            json!(true),
            json!("b"),
            json!(2),
            json!({"a": 1}),
            json!("a"),
            json!(1),
        ];
        cells.sort_by(order);
        assert_eq!(cells[..4], [json!(1), json!(2), json!("a"), json!("b")]);
    }

    proptest! {
        #[test]
        fn every_text_survives_being_a_cell(text in prop_oneof![
            any::<String>(),
            "[-+]?[0-9]{0,21}(\\.[0-9]{0,4})?([eE][0-9]{1,3})?",
            any::<f64>().prop_map(|float| float.to_string()),
        ]) {
            prop_assert_eq!(to_text(&from_text(&text)), text);
        }
    }
}

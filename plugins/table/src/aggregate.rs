//! One value from many cells.

use std::cmp::Ordering;
use std::collections::HashSet;

use prx_skill::prelude::*;
use serde_json::{Number, Value};

use crate::cell::{self, Numeric};
use crate::error::TableError;

/// A value that is computed from the rows of each group.
#[data]
#[derive(Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// What is computed.
    pub function: Function,
    /// The column it is computed from; `count` without one counts rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The name of the new column. If left out: the function and the column, as in
    /// `sum_price`, or `count`.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What is computed. Empty cells are passed over.
#[data]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// How many cells hold something.
    Count,
    /// How many different values there are.
    Distinct,
    /// The sum of numbers.
    Sum,
    /// The mean of numbers.
    Avg,
    /// The least number, or the first text by alphabet.
    Min,
    /// The greatest number, or the last text by alphabet.
    Max,
}

impl Function {
    fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Distinct => "distinct",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

impl Aggregate {
    /// The number of rows in each group.
    pub fn count() -> Self {
        Self {
            function: Function::Count,
            column: None,
            name: None,
        }
    }

    /// The name of the new column.
    pub fn result_name(&self) -> String {
        match (&self.name, &self.column) {
            (Some(name), _) => name.clone(),
            (None, Some(column)) => format!("{}_{column}", self.function.as_str()),
            (None, None) => self.function.as_str().to_owned(),
        }
    }

    /// The value for the rows of one group; `place` is where the column is.
    pub fn compute(&self, place: Option<usize>, rows: &[&[Value]]) -> Result<Value, TableError> {
        let Some(place) = place else {
            if self.function == Function::Count {
                return Ok(Value::from(rows.len()));
            }
            let function = self.function.as_str();
            return Err(TableError::AggregateWithoutColumn { function });
        };
        let cells = rows
            .iter()
            .map(|row| &row[place])
            .filter(|cell| !cell::is_empty(cell));
        Ok(match self.function {
            Function::Count => Value::from(cells.count()),
            Function::Distinct => {
                Value::from(cells.map(Value::to_string).collect::<HashSet<_>>().len())
            }
            Function::Sum => self
                .sum(cells)?
                .map_or(Value::from(0), |(sum, _)| to_value(sum)),
            Function::Avg => match self.sum(cells)? {
                Some((sum, count)) => to_value(Numeric::Float(sum.as_f64() / count)),
                None => Value::Null,
            },
            Function::Min => extreme(cells, Ordering::Less),
            Function::Max => extreme(cells, Ordering::Greater),
        })
    }

    /// The sum and the number of cells, if there are any.
    fn sum<'a>(
        &self,
        cells: impl Iterator<Item = &'a Value>,
    ) -> Result<Option<(Numeric, f64)>, TableError> {
        let mut sum = None;
        let mut count = 0.0;
        let mut decimals = 0;
        for cell in cells {
            let number = Numeric::of(cell).ok_or_else(|| TableError::NotANumber {
                column: self.column.clone().unwrap_or_default(),
                value: cell::to_text(cell),
                function: self.function.as_str(),
            })?;
            count += 1.0;
            decimals = decimals.max(decimals_of(&cell::to_text(cell)));
            sum = Some(sum.map_or(number, |sum| add(sum, number)));
        }
        Ok(sum.map(|sum| (rounded(sum, decimals), count)))
    }
}

fn add(a: Numeric, b: Numeric) -> Numeric {
    if let (Numeric::Integer(a), Numeric::Integer(b)) = (a, b)
        && let Some(sum) = a.checked_add(b)
    {
        return Numeric::Integer(sum);
    }
    Numeric::Float(a.as_f64() + b.as_f64())
}

/// Digits after the point; many for the exponent form, which says little about precision.
fn decimals_of(text: &str) -> usize {
    match text.trim().split_once('.') {
        _ if text.contains(['e', 'E']) => usize::MAX,
        Some((_, decimals)) => decimals.len(),
        None => 0,
    }
}

/// A sum has no more decimals than its parts, so that 0.1 and 0.2 are 0.3.
fn rounded(sum: Numeric, decimals: usize) -> Numeric {
    match sum {
        Numeric::Float(float) if decimals <= 15 => {
            Numeric::Float(format!("{float:.decimals$}").parse().unwrap_or(float))
        }
        other => other,
    }
}

fn to_value(number: Numeric) -> Value {
    match number {
        Numeric::Integer(integer) => {
            Number::from_i128(integer).map_or_else(|| Value::from(number.as_f64()), Value::Number)
        }
        // Infinite sums have no JSON number and become null.
        Numeric::Float(float) => Value::from(float),
    }
}

fn extreme<'a>(cells: impl Iterator<Item = &'a Value>, wanted: Ordering) -> Value {
    let better = |best: &'a Value, cell: &'a Value| {
        if cell::order(cell, best) == wanted {
            cell
        } else {
            best
        }
    };
    cells.reduce(better).cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compute(function: Function, cells: &[Value]) -> Result<Value, TableError> {
        let aggregate = Aggregate {
            function,
            column: Some("c".into()),
            name: None,
        };
        let rows: Vec<&[Value]> = cells.iter().map(std::slice::from_ref).collect();
        aggregate.compute(Some(0), &rows)
    }

    #[test]
    fn empty_cells_are_passed_over() {
        let cells = [json!(1), json!(null), json!(""), json!("2.5"), json!(1)];
        assert_eq!(compute(Function::Count, &cells), Ok(json!(3)));
        assert_eq!(compute(Function::Distinct, &cells), Ok(json!(2)));
        assert_eq!(compute(Function::Sum, &cells), Ok(json!(4.5)));
        assert_eq!(compute(Function::Avg, &cells), Ok(json!(1.5)));
        assert_eq!(compute(Function::Min, &cells), Ok(json!(1)));
        assert_eq!(compute(Function::Max, &cells), Ok(json!("2.5")));
    }

    #[test]
    fn nothing_has_a_sum_of_zero_and_no_mean() {
        assert_eq!(compute(Function::Sum, &[]), Ok(json!(0)));
        assert_eq!(compute(Function::Count, &[]), Ok(json!(0)));
        for function in [Function::Avg, Function::Min, Function::Max] {
            assert_eq!(compute(function, &[json!(null)]), Ok(json!(null)));
        }
    }

    #[test]
    fn sums_of_decimals_show_no_rounding_error() {
        let cells = [json!(0.1), json!(0.2), json!("19.90")];
        assert_eq!(compute(Function::Sum, &cells), Ok(json!(20.2)));
        assert_eq!(
            compute(Function::Sum, &[json!(1e300), json!(1)]),
            Ok(json!(1e300))
        );
    }

    #[test]
    fn integers_are_added_exactly() {
        let large = 9_007_199_254_740_993_i64;
        assert_eq!(
            compute(Function::Sum, &[json!(large), json!(0)]),
            Ok(json!(large))
        );
        let sum = compute(Function::Sum, &[json!(u64::MAX), json!(u64::MAX)]).unwrap();
        assert_eq!(sum.as_f64(), Some(36_893_488_147_419_103_232.0));
    }

    #[test]
    fn text_has_an_order_and_no_sum() {
        let cells = [json!("b"), json!("a")];
        assert_eq!(compute(Function::Min, &cells), Ok(json!("a")));
        assert_eq!(compute(Function::Max, &cells), Ok(json!("b")));
        let error = compute(Function::Sum, &cells).unwrap_err().to_string();
        assert!(
            error.contains("`c` holds `b`") && error.contains("no `sum`"),
            "{error}"
        );
    }

    #[test]
    fn only_counting_rows_needs_no_column() {
        let row: &[Value] = &[json!(null)];
        assert_eq!(Aggregate::count().compute(None, &[row, row]), Ok(json!(2)));
        let sum = Aggregate {
            function: Function::Sum,
            ..Aggregate::count()
        };
        let expected = TableError::AggregateWithoutColumn { function: "sum" };
        assert_eq!(sum.compute(None, &[row]), Err(expected));
    }
}

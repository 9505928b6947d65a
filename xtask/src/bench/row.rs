//! A row of results: what a bench program measured, and whether that meets its goal.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// What a bench program prints, as one line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What was measured.
    name: String,
    /// Of `ours` and `baseline`.
    unit: String,
    /// The host.
    ours: f64,
    /// What it is compared with, in the same run.
    baseline: Option<f64>,
    /// For instance `ratio <= 1.25` or `ours < 1`.
    goal: Option<Goal>,
}

/// A judged row, as in `results.json`.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Of `ours` and `baseline`.
    pub unit: String,
    /// The host.
    pub ours: f64,
    /// What it is compared with.
    pub baseline: Option<f64>,
    /// `ours / baseline`.
    pub ratio: Option<f64>,
    /// What was to be reached.
    pub goal: Option<Goal>,
    /// Whether it was reached; none without a goal.
    pub met: Option<bool>,
}

impl Measured {
    /// Adds the ratio and the verdict.
    pub fn judged(self) -> Row {
        let ratio = self.baseline.map(|baseline| self.ours / baseline);
        let met = self.goal.as_ref().map(|goal| goal.is_met(self.ours, ratio));
        let Self {
            name,
            unit,
            ours,
            baseline,
            goal,
        } = self;
        Row {
            name,
            unit,
            ours,
            baseline,
            ratio,
            goal,
            met,
        }
    }

    fn check(&self) -> Result<()> {
        if self.baseline.is_some_and(|baseline| baseline <= 0.0) {
            bail!("`{}` has a baseline that is not positive", self.name);
        }
        if self.baseline.is_none() && self.goal.as_ref().is_some_and(|goal| goal.of_ratio) {
            bail!("`{}` has a goal for the ratio, but no baseline", self.name);
        }
        Ok(())
    }
}

/// Reads what a bench program printed: rows and empty lines, nothing else.
pub fn read(printed: &str) -> Result<Vec<Measured>> {
    let lines = printed.lines().filter(|line| !line.trim().is_empty());
    let rows = lines.map(|line| {
        let row: Measured = serde_json::from_str(line)
            .with_context(|| format!("the bench printed `{line}`, which is no row"))?;
        row.check()?;
        Ok(row)
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    if rows.is_empty() {
        bail!("the bench printed no row");
    }
    Ok(rows)
}

/// What is to be reached, by the measure itself or by its ratio to the baseline.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Goal {
    of_ratio: bool,
    relation: Relation,
    bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    AtMost,
    Below,
    AtLeast,
    Above,
}

const RELATIONS: [(&str, Relation); 4] = [
    ("<=", Relation::AtMost),
    ("<", Relation::Below),
    (">=", Relation::AtLeast),
    (">", Relation::Above),
];

impl Goal {
    fn is_met(&self, ours: f64, ratio: Option<f64>) -> bool {
        let Some(value) = (if self.of_ratio { ratio } else { Some(ours) }) else {
            return false;
        };
        match self.relation {
            Relation::AtMost => value <= self.bound,
            Relation::Below => value < self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Above => value > self.bound,
        }
    }
}

impl FromStr for Goal {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let [measure, relation, bound] = text.split_whitespace().collect::<Vec<_>>()[..] else {
                return None;
            };
            let of_ratio = match measure {
                "ratio" => true,
                "ours" => false,
                _ => return None,
            };
            let (_, relation) = RELATIONS.into_iter().find(|(sign, _)| *sign == relation)?;
            Some(Self {
                of_ratio,
                relation,
                bound: bound.parse().ok()?,
            })
        };
        read().with_context(|| format!("`{text}` is no goal such as `ratio <= 1.25` or `ours < 1`"))
    }
}

impl TryFrom<String> for Goal {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = RELATIONS
            .iter()
            .find(|(_, relation)| *relation == self.relation);
        let sign = sign.map_or("", |(sign, _)| sign);
        write!(
            f,
            "{} {sign} {}",
            if self.of_ratio { "ratio" } else { "ours" },
            self.bound
        )
    }
}

impl From<Goal> for String {
    fn from(goal: Goal) -> Self {
        goal.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(line: &str) -> Option<bool> {
        let row = read(line).unwrap().remove(0).judged();
        row.met
    }

    #[test]
    fn goals_hold_to_their_bound() {
        let row = |ours: f64, goal: &str| {
            met(&format!(
                r#"{{"name":"x","unit":"us","ours":{ours},"baseline":40,"goal":"{goal}"}}"#
            ))
        };
        assert_eq!(row(50.0, "ratio <= 1.25"), Some(true));
        assert_eq!(row(50.1, "ratio <= 1.25"), Some(false));
        assert_eq!(row(68.0, "ratio >= 1.7"), Some(true));
        assert_eq!(row(67.0, "ratio >= 1.7"), Some(false));
        assert_eq!(row(0.999, "ours < 1"), Some(true));
        assert_eq!(row(1.0, "ours < 1"), Some(false));
        assert_eq!(row(1.0, "ours > 1"), Some(false));
        assert_eq!(met(r#"{"name":"x","unit":"us","ours":1}"#), None);
    }

    #[test]
    fn what_is_no_row_is_an_error_that_quotes_it() {
        for (line, said) in [
            ("42 us", "the bench printed `42 us`, which is no row"),
            ("", "the bench printed no row"),
            (
                r#"{"name":"x","unit":"us","ours":1,"goal":"ratio <= 2"}"#,
                "`x` has a goal for the ratio, but no baseline",
            ),
            (
                r#"{"name":"x","unit":"us","ours":1,"baseline":0}"#,
                "`x` has a baseline that is not positive",
            ),
        ] {
            assert_eq!(read(line).unwrap_err().to_string(), said);
        }
        let error = read(r#"{"name":"x","unit":"us","ours":1,"goal":"fast"}"#).unwrap_err();
        assert!(
            format!("{error:#}").contains("`fast` is no goal"),
            "{error:#}"
        );
    }

    #[test]
    fn goals_print_as_they_parse() {
        for text in ["ratio <= 1.25", "ours < 1", "ours >= 1.7", "ratio > 2"] {
            assert_eq!(text.parse::<Goal>().unwrap().to_string(), text);
        }
    }
}

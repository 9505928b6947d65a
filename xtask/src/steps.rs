//! A chore in named steps: a heading before each, a summary after all. A step that
//! fails does not keep the next from running, unless the next needs it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// The steps so far.
#[derive(Default)]
pub struct Steps {
    done: Vec<Step>,
}

struct Step {
    title: String,
    took: Duration,
    /// A remark, or why it failed.
    outcome: Result<String, String>,
}

impl Steps {
    /// Runs a step and tells whether it succeeded. Its `Ok` is a remark for the summary.
    pub fn run(&mut self, title: &str, step: impl FnOnce() -> Result<String>) -> bool {
        self.give(title, || step().map(|remark| (remark, ())))
            .is_some()
    }

    /// Runs a step that makes something which later steps need.
    pub fn give<T>(
        &mut self,
        title: &str,
        step: impl FnOnce() -> Result<(String, T)>,
    ) -> Option<T> {
        println!("\n==> {title}");
        let start = Instant::now();
        let (outcome, made) = match step() {
            Ok((remark, made)) => (Ok(remark), Some(made)),
            Err(error) => (Err(format!("{error:#}")), None),
        };
        let took = start.elapsed();
        match &outcome {
            Ok(remark) => println!("    done in {}{}", seconds(took), dashed(remark)),
            Err(why) => println!("    FAILED after {}: {why}", seconds(took)),
        }
        self.done.push(Step {
            title: title.to_owned(),
            took,
            outcome,
        });
        made
    }

    /// Prints the summary; an error if a step failed.
    pub fn finish(self) -> Result<()> {
        println!("\n{}", self.summary());
        match self
            .done
            .iter()
            .filter(|step| step.outcome.is_err())
            .count()
        {
            0 => Ok(()),
            failed => bail!("{failed} of {} steps failed", self.done.len()),
        }
    }

    fn summary(&self) -> String {
        let width = self
            .done
            .iter()
            .map(|step| step.title.chars().count())
            .max()
            .unwrap_or(0);
        let line = |step: &Step| {
            let (word, remark) = match &step.outcome {
                Ok(remark) => ("ok    ", remark.as_str()),
                // The rest of it stands above.
                Err(why) => ("FAILED", why.lines().next().unwrap_or_default()),
            };
            format!(
                "  {word}  {:width$}  {:>8}{}",
                step.title,
                seconds(step.took),
                dashed(remark)
            )
        };
        let lines: Vec<_> = self.done.iter().map(line).collect();
        format!("Summary\n{}", lines.join("\n"))
    }
}

fn dashed(remark: &str) -> String {
    if remark.is_empty() {
        String::new()
    } else {
        format!("  {remark}")
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(title: &str, millis: u64, outcome: Result<&str, &str>) -> Step {
        Step {
            title: title.to_owned(),
            took: Duration::from_millis(millis),
            outcome: outcome.map(str::to_owned).map_err(str::to_owned),
        }
    }

    #[test]
    fn the_summary_has_a_line_for_each_step() {
        let done = vec![
            step("first", 1500, Ok("3 things")),
            step("second one", 0, Err("no such thing\nwith details")),
            step("third", 75_000, Ok("")),
        ];
        let expected = "Summary\n  \
            ok      first          1.5 s  3 things\n  \
            FAILED  second one     0.0 s  no such thing\n  \
            ok      third         75.0 s";
        assert_eq!(Steps { done }.summary(), expected);
    }

    #[test]
    fn a_failure_keeps_nothing_from_running_and_fails_the_whole() {
        let mut steps = Steps::default();
        assert!(!steps.run("first", || bail!("no such thing")));
        assert_eq!(steps.give("second", || Ok((String::new(), 7))), Some(7));
        let error = steps.finish().unwrap_err().to_string();
        assert_eq!(error, "1 of 2 steps failed");
    }

    #[test]
    fn a_chore_without_failures_succeeds() {
        let mut steps = Steps::default();
        assert!(steps.run("make", || Ok(String::new())));
        steps.finish().unwrap();
    }
}

//! Running `cargo test`, and counting what it ran.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

/// Runs `cargo test`, shows what it prints and counts the tests.
pub fn counted(test: &mut Command) -> Result<(Count, ExitStatus)> {
    let line = crate::command::line_of(test);
    println!("$ {line}");
    let mut child = test
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{line}`"))?;
    let printed = child.stdout.take().context("standard output was piped")?;
    let mut count = Count::default();
    let mut out = std::io::stdout().lock();
    for line in BufReader::new(printed).split(b'\n') {
        let line = line?;
        count.add(&String::from_utf8_lossy(&line));
        out.write_all(&line)?;
        out.write_all(b"\n")?;
    }
    Ok((count, child.wait()?))
}

/// How many tests there were.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
}

impl Count {
    /// Adds what another run counted.
    pub fn merge(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Adds what a line such as `test result: ok. 5 passed; 0 failed; 1 ignored; ...` says.
    fn add(&mut self, line: &str) {
        let Some((_, numbers)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for number in numbers.split("; ") {
            let Some((count, what)) = number.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed", self.passed)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.ignored > 0 {
            write!(f, ", {} ignored", self.ignored)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_over_all_programs() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.1s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s",
            "test result of something else. 7 passed",
        ] {
            count.add(line);
        }
        assert_eq!(
            count,
            Count {
                passed: 6,
                failed: 2,
                ignored: 1
            }
        );
        assert_eq!(count.to_string(), "6 passed, 2 failed, 1 ignored");
    }
}

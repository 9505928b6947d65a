//! Well behaved: logs at every level and reports how far it has come.

use prx_guests::log::Level;
use prx_guests::progress::{Amount, Count, report};
use prx_guests::{Tool, guest, log, structured, text};
use serde_json::json;

fn count(done: u64, total: Option<u64>) -> Amount {
    Amount::Count(Count { done, total })
}

guest![
    Tool::new(
        "log",
        "Logs once at each level; tells which are heard.",
        |_| {
            let mut enabled = Vec::new();
            let levels = [
                Level::Trace,
                Level::Debug,
                Level::Info,
                Level::Warn,
                Level::Error,
            ];
            for (rank, level) in levels.into_iter().enumerate() {
                enabled.push(log::enabled(level));
                let fields = [
                    ("rank".to_owned(), rank.to_string()),
                    ("note".to_owned(), "two words\nand a line".to_owned()),
                ];
                log::write(level, &format!("message {rank}"), &fields);
            }
            structured(json!({ "enabled": enabled }))
        }
    ),
    Tool::new(
        "fractions",
        "Reports a quarter, a half and the whole.",
        |_| {
            report(Amount::Fraction(0.25), Some("a quarter"));
            report(Amount::Fraction(0.5), None);
            report(Amount::Fraction(1.0), Some("the whole"));
            text("done")
        }
    ),
    Tool::new("counts", "Reports 1 of 3, 2 of 3 and 3 of 3.", |_| {
        report(count(1, Some(3)), Some("first"));
        report(count(2, Some(3)), None);
        report(count(3, Some(3)), Some("last"));
        text("done")
    }),
    Tool::new("unknown_total", "Reports 1, 2 and 3 of unknown.", |_| {
        (1..=3).for_each(|done| report(count(done, None), None));
        text("done")
    }),
    Tool::new(
        "odd",
        "Reports backwards, not-a-number and out of range.",
        |_| {
            report(Amount::Fraction(0.5), Some("half"));
            report(Amount::Fraction(0.1), Some("back"));
            report(Amount::Fraction(f64::NAN), Some("nan"));
            report(Amount::Fraction(f64::INFINITY), Some("infinite"));
            report(Amount::Fraction(-1.0), Some("negative"));
            report(Amount::Fraction(7.0), Some("seven"));
            report(count(5, Some(2)), Some("more than all"));
            report(count(u64::MAX, Some(0)), Some("all of none"));
            text("done")
        }
    ),
    Tool::new("streams", "Writes a line to each standard stream.", |_| {
        println!("to standard output");
        eprintln!("to standard error");
        text("done")
    }),
];

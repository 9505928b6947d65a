//! Well behaved: the command `sort`, as far as a tool of the tests needs it. It does what
//! the programs of that name on other backends do.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options: Vec<String> = std::env::args().skip(1).collect();
    if let Some(odd) = options
        .iter()
        .find(|option| !["-r", "-u"].contains(&option.as_str()))
    {
        eprintln!("sort: unrecognized option `{odd}`");
        return ExitCode::from(2);
    }
    let mut text = String::new();
    if std::io::stdin().read_to_string(&mut text).is_err() {
        return ExitCode::from(2);
    }
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    if options.contains(&"-u".to_owned()) {
        lines.dedup();
    }
    if options.contains(&"-r".to_owned()) {
        lines.reverse();
    }
    let mut out = std::io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

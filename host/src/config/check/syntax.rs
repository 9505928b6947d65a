//! Text that is no TOML: what the parser says, put so that it can be repaired.

use std::ops::Range;

use crate::config::fault::Fault;
use crate::config::source::SourceText;

/// The fault for an error of the parser.
pub(super) fn fault(message: &str, span: &Range<usize>, source: &SourceText) -> Fault {
    let written = source.slice(span);
    // The parser guesses what a value was meant to be; a bare word was meant as a string.
    let bare_word = message.starts_with("invalid") && written.starts_with(char::is_alphabetic);
    let (what, help) = if message.starts_with("duplicate key") {
        (
            format!("`{}` is there twice", written.escape_debug()),
            Some("keep one of the two; a table begins only once".to_owned()),
        )
    } else if message.starts_with("string values must be quoted") && written.is_empty() {
        (
            "the value is missing".to_owned(),
            Some("write one after `=`".to_owned()),
        )
    } else if message.starts_with("string values must be quoted") || bare_word {
        (
            "a string needs quotes".to_owned(),
            Some(format!("write `{written:?}`")),
        )
    } else if message == "invalid basic string, expected `\"`" {
        (
            "a string is not closed".to_owned(),
            Some("write `\"` at its end".to_owned()),
        )
    } else if message.contains("recurs") {
        (
            "tables or arrays are nested too deeply".to_owned(),
            Some("nest at most 80 of them".to_owned()),
        )
    } else {
        (message.to_owned(), None)
    };
    let fault = Fault::error(format!("this is not TOML: {what}")).at(source, span);
    match help {
        Some(help) => fault.help(help),
        None => fault,
    }
}

//! Describes a tool whose small schema doubles the work at each of 60 levels.

use std::fmt::Write as _;

fn schema() -> String {
    let mut definitions = String::from(r#""level0": {"type": "string"}"#);
    for level in 1..=60 {
        let below = level - 1;
        let _ = write!(
            definitions,
            r##", "level{level}": {{"anyOf": [{{"$ref": "#/$defs/level{below}"}}, {{"$ref": "#/$defs/level{below}"}}]}}"##
        );
    }
    format!(
        r##"{{"type": "object", "properties": {{"value": {{"$ref": "#/$defs/level60"}}}}, "$defs": {{{definitions}}}}}"##
    )
}

prx_guests::describes!(vec![prx_guests::spec("exponential", &schema())]);

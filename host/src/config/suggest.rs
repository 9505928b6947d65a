//! The nearest of the names that exist, for people who mistype. Says nothing
//! rather than something far-fetched.

use strsim::osa_distance;

/// The candidate that `name` most likely means, if one is close enough.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let close = |candidate: &'c str| {
        // A unit that was forgotten or is another one counts as one letter.
        let without_unit = osa_distance(stem(&name), stem(candidate)) + 1;
        let distance = osa_distance(&name, candidate).min(without_unit);
        let shorter = stem(&name)
            .chars()
            .count()
            .min(stem(candidate).chars().count());
        let is_close = distance <= 1.max(shorter / 3) && distance < shorter;
        is_close.then_some((distance, candidate))
    };
    let near = candidates.into_iter().filter_map(close);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A key without the unit at its end.
fn stem(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((stem, "secs" | "sec" | "seconds" | "ms" | "mb" | "kb" | "gb" | "bytes")) => stem,
        _ => name,
    }
}

/// The table of ours that a foreign table's name was probably meant to be: one letter
/// off, or two when at least the first is right.
pub(super) fn misspelled<'c>(name: &str, ours: &[&'c str]) -> Option<&'c str> {
    let close = |our: &&str| match osa_distance(name, our) {
        1 => true,
        2 => name.chars().next() == our.chars().next(),
        _ => false,
    };
    ours.iter().copied().find(|our| close(our))
}

/// `a`, `b` or `c`, in backticks.
pub(super) fn listed<'c>(names: impl IntoIterator<Item = &'c str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_recognised() {
        let keys = ["timeout_secs", "max_memory_mb", "network"];
        for (written, meant) in [
            ("timeout_sec", "timeout_secs"),
            ("timeout-secs", "timeout_secs"),
            ("Network", "network"),
            ("netowrk", "network"),
            ("max_memroy", "max_memory_mb"),
            ("timeout_ms", "timeout_secs"),
            ("timeout", "timeout_secs"),
        ] {
            assert_eq!(nearest(written, keys), Some(meant), "{written}");
        }
    }

    #[test]
    fn nothing_is_suggested_for_something_else() {
        for written in ["colour", "t", "", "net", "memory"] {
            assert_eq!(
                nearest(written, ["timeout_secs", "network"]),
                None,
                "{written}"
            );
        }
    }

    #[test]
    fn tables_of_the_agent_are_not_taken_for_ours() {
        let ours = ["runtime", "security", "tools"];
        for table in [
            "router", "hooks", "nodes", "memory", "cost", "agents", "models",
        ] {
            assert_eq!(misspelled(table, &ours), None, "{table}");
        }
        for (table, meant) in [
            ("runtim", "runtime"),
            ("tool", "tools"),
            ("secruity", "security"),
        ] {
            assert_eq!(misspelled(table, &ours), Some(meant), "{table}");
        }
    }
}

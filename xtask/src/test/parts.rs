//! The parts of the tests that can be asked for by name, and what each of them needs.

use crate::guests::GUESTS;

/// A part of the tests that can be asked for by name.
#[allow(clippy::struct_excessive_bools, reason = "independent facts of a part")]
pub struct Part {
    pub name: &'static str,
    pub title: &'static str,
    /// For `cargo test`.
    pub arguments: &'static [&'static str],
    /// Only tests with this in their names, where nobody asks for others.
    pub filter: Option<&'static str>,
    /// Whether its tests look for built modules.
    pub needs_modules: bool,
    /// Whether its tests look for clients of the Model Context Protocol.
    pub needs_clients: bool,
    /// Whether its tests look for an engine, a registry and a sandbox.
    pub needs_services: bool,
    /// Whether cargo builds the program beside its tests, with the same dependencies.
    pub builds_program: bool,
    /// Whether it runs when no part is named. The others are within one that does.
    pub by_default: bool,
}

/// All parts, in the order in which they run. The guests have no tests of their own, and
/// as modules they export names that a linker for this machine refuses.
pub const PARTS: &[Part] = &[
    Part {
        name: "unit",
        title: "Unit tests",
        arguments: &["--workspace", "--exclude", GUESTS, "--lib", "--bins"],
        filter: None,
        needs_modules: false,
        needs_clients: false,
        needs_services: false,
        builds_program: false,
        by_default: false,
    },
    Part {
        name: "end-to-end",
        title: "End-to-end tests",
        arguments: &["--package", "prx-tests"],
        filter: None,
        needs_modules: true,
        needs_clients: true,
        needs_services: true,
        builds_program: false,
        by_default: false,
    },
    Part {
        name: "conformance",
        title: "The official conformance suite",
        // With a test of the host's own package cargo builds the program, too.
        arguments: &[
            "--workspace",
            "--exclude",
            GUESTS,
            "--test",
            "clients",
            "--test",
            "config",
        ],
        filter: Some("conformance"),
        needs_modules: true,
        needs_clients: true,
        needs_services: false,
        builds_program: true,
        by_default: false,
    },
    Part {
        name: "workspace",
        title: "All tests of the workspace",
        arguments: &["--workspace", "--exclude", GUESTS],
        filter: None,
        needs_modules: true,
        needs_clients: true,
        needs_services: true,
        builds_program: true,
        by_default: true,
    },
    Part {
        name: "without-wasm",
        title: "The host without its WebAssembly engine",
        arguments: &["--package", "prx-host", "--no-default-features"],
        filter: None,
        needs_modules: true,
        needs_clients: false,
        needs_services: false,
        builds_program: false,
        by_default: true,
    },
];

/// The parts that are named, or those by default; and the words that name none.
pub fn chosen(words: &[String]) -> (Vec<&'static Part>, Vec<String>) {
    let named: Vec<_> = PARTS
        .iter()
        .filter(|part| words.iter().any(|word| word == part.name))
        .collect();
    let filters = words
        .iter()
        .filter(|word| PARTS.iter().all(|part| part.name != **word))
        .cloned()
        .collect();
    if named.is_empty() {
        (
            PARTS.iter().filter(|part| part.by_default).collect(),
            filters,
        )
    } else {
        (named, filters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn without_words_everything_runs_once() {
        let (parts, filters) = chosen(&[]);
        let names: Vec<_> = parts.iter().map(|part| part.name).collect();
        assert_eq!(names, ["workspace", "without-wasm"]);
        assert!(filters.is_empty());
    }

    #[test]
    fn a_word_that_names_no_part_is_a_filter() {
        let (parts, filters) = chosen(&words(&["unit", "grants"]));
        assert_eq!(
            parts.iter().map(|part| part.name).collect::<Vec<_>>(),
            ["unit"]
        );
        assert_eq!(filters, ["grants"]);
        let (parts, filters) = chosen(&words(&["grants"]));
        assert_eq!(parts.len(), 2);
        assert_eq!(filters, ["grants"]);
    }
}

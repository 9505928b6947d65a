//! The parts of the tests that can be asked for by name, and what each of them needs.

use crate::guests::GUESTS;
use crate::services::Other;

/// A part of the tests that can be asked for by name.
#[allow(clippy::struct_excessive_bools, reason = "independent facts of a part")]
pub struct Part {
    pub name: &'static str,
    pub title: &'static str,
    pub runs: &'static [Run],
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
    /// The engine for containers that its tests have in the place of the usual one.
    pub engine: Option<Other>,
    /// Whether it runs when no part is named. The others are within one that does.
    pub by_default: bool,
}

/// One run of `cargo test`.
pub struct Run {
    /// For `cargo test`.
    pub arguments: &'static [&'static str],
    /// None of the tests with one of these in their names.
    pub skipped: &'static [&'static str],
}

impl Run {
    const fn of(arguments: &'static [&'static str]) -> Self {
        Self {
            arguments,
            skipped: &[],
        }
    }
}

/// The runs of an engine beside the usual one: of the whole workspace, for which all is built.
const OF_ENGINE: &[Run] = &[
    Run::of(&["--workspace", "--exclude", GUESTS, "--test", "docker"]),
    Run {
        arguments: &["--workspace", "--exclude", GUESTS, "--test", "adapters"],
        // Of the others there, those that need an engine need modules, too.
        skipped: &[
            "choice::",
            "lifetime::",
            "limits::",
            "machine::",
            "native::",
            "sandbox::",
            "tool_file::",
            "wasm::",
        ],
    },
];

/// The tests that an engine beside the usual one is held to.
const fn of_engine(name: &'static str, title: &'static str, engine: Other) -> Part {
    Part {
        name,
        title,
        runs: OF_ENGINE,
        filter: None,
        needs_modules: false,
        needs_clients: false,
        needs_services: true,
        builds_program: false,
        engine: Some(engine),
        by_default: true,
    }
}

/// All parts, in the order in which they run. The guests have no tests of their own, and
/// as modules they export names that a linker for this machine refuses.
pub const PARTS: &[Part] = &[
    Part {
        name: "unit",
        title: "Unit tests",
        runs: &[Run::of(&[
            "--workspace",
            "--exclude",
            GUESTS,
            "--lib",
            "--bins",
        ])],
        filter: None,
        needs_modules: false,
        needs_clients: false,
        needs_services: false,
        builds_program: false,
        engine: None,
        by_default: false,
    },
    Part {
        name: "end-to-end",
        title: "End-to-end tests",
        runs: &[Run::of(&["--package", "prx-tests"])],
        filter: None,
        needs_modules: true,
        needs_clients: true,
        needs_services: true,
        builds_program: false,
        engine: None,
        by_default: false,
    },
    Part {
        name: "conformance",
        title: "The official conformance suite",
        // With a test of the host's own package cargo builds the program, too.
        runs: &[Run::of(&[
            "--workspace",
            "--exclude",
            GUESTS,
            "--test",
            "clients",
            "--test",
            "config",
        ])],
        filter: Some("conformance"),
        needs_modules: true,
        needs_clients: true,
        needs_services: false,
        builds_program: true,
        engine: None,
        by_default: false,
    },
    Part {
        name: "workspace",
        title: "All tests of the workspace",
        runs: &[Run::of(&["--workspace", "--exclude", GUESTS])],
        filter: None,
        needs_modules: true,
        needs_clients: true,
        needs_services: true,
        builds_program: true,
        engine: None,
        by_default: true,
    },
    Part {
        name: "without-wasm",
        title: "The host without its WebAssembly engine",
        runs: &[Run::of(&["--package", "prx-host", "--no-default-features"])],
        filter: None,
        needs_modules: true,
        needs_clients: false,
        needs_services: false,
        builds_program: false,
        engine: None,
        by_default: true,
    },
    of_engine("podman", "Containers of Podman", Other::Podman),
    of_engine(
        "rootless-docker",
        "Containers of rootless Docker",
        Other::RootlessDocker,
    ),
    of_engine(
        "rootless-podman",
        "Containers of rootless Podman",
        Other::RootlessPodman,
    ),
];

/// The parts that are named, or those by default; and the words that name none. Who asks for
/// tests by their names is not made to wait for every engine, unless it is named.
pub fn chosen(words: &[String]) -> (Vec<&'static Part>, Vec<String>) {
    let named: Vec<_> = PARTS
        .iter()
        .filter(|part| words.iter().any(|word| word == part.name))
        .collect();
    let filters: Vec<String> = words
        .iter()
        .filter(|word| PARTS.iter().all(|part| part.name != **word))
        .cloned()
        .collect();
    if named.is_empty() {
        (
            PARTS
                .iter()
                .filter(|part| part.by_default && (filters.is_empty() || part.engine.is_none()))
                .collect(),
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
        let engines = ["podman", "rootless-docker", "rootless-podman"];
        assert_eq!(names[..2], ["workspace", "without-wasm"]);
        assert_eq!(names[2..], engines);
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

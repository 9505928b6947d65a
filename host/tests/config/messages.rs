//! What a person reads about a configuration, good or faulty.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{FILE, load};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/config")
        .join(folder);
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_documented_example_loads_unchanged() {
    let files = fixtures("documented");
    assert!(files.len() >= 17, "fixtures are missing: {files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if let Err(faults) = load(&text) {
            panic!("{}:\n{}", file.display(), faults.render(false));
        }
    }
}

/// The texts beside the files are what a person sees. `BLESS=1` writes them anew, for
/// review.
#[test]
fn every_faulty_file_is_answered_with_the_expected_text() {
    let bless = std::env::var_os("BLESS").is_some();
    let files = fixtures("faulty");
    assert!(files.len() >= 25, "fixtures are missing: {files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let faults = load(&text).expect_err(&format!("{} loads", file.display()));
        let rendered = faults.render(false) + "\n";
        let expected = file.with_extension("txt");
        if bless {
            fs::write(&expected, rendered).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != rendered {
            wrong.push(format!("{}:\n{rendered}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_faults_of_one_file_are_reported_together_in_its_order() {
    let text = include_str!("faulty/ten_faults_at_once.toml");
    let faults = load(text).unwrap_err();
    assert_eq!(faults.len(), 10);
    let lines: Vec<usize> = faults
        .iter()
        .map(|fault| fault.place.as_ref().unwrap().line)
        .collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn faults_print_as_error_place_cause_and_help() {
    let faults = load("[runtime.wasm]\ntimout_secs = 1\nmax_memory_mb = 0\n").unwrap_err();
    let expected = "\
error: unknown key `timout_secs` in `[runtime.wasm]`
  --> /etc/openprx/config.toml:2:1
  help: did you mean `timeout_secs`?

error: `runtime.wasm.max_memory_mb` is out of range
  --> /etc/openprx/config.toml:3:17
  cause: 0 is not between 1 and 1048576
  help: write a number of MB from 1 to 1048576";
    assert_eq!(faults.to_string(), expected);
}

#[test]
fn faults_serialise_for_programs() {
    let faults = load("[runtime]\nbackend = \"dokcer\"\n").unwrap_err();
    let expected = serde_json::json!([{
        "severity": "error",
        "place": { "file": FILE, "line": 2, "column": 11 },
        "key": "runtime.backend",
        "what": "`runtime.backend` has an unknown value",
        "cause": "expected `native`, `docker`, `wasm` or `auto`",
        "help": "did you mean `\"docker\"`?",
        "related": null,
    }]);
    assert_eq!(serde_json::to_value(&faults).unwrap(), expected);
}

#[test]
fn colours_appear_only_when_they_are_asked_for() {
    let faults = load("[runtime]\nbackend = 1\n").unwrap_err();
    assert!(!faults.render(false).contains('\u{1b}'));
    assert!(faults.render(true).contains('\u{1b}'));
}

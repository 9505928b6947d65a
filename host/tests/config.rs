//! Configuration files as a whole: those that the documents print must load unchanged,
//! faulty ones must say all that is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};

use prx_host::config::{Config, Environment, Faults};

/// Where the configuration pretends to stand, so that messages are the same everywhere.
const FILE: &str = "/etc/openprx/config.toml";

fn environment() -> Environment {
    Environment::new("/work").with("HOME", "/home/ada")
}

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

fn load(text: &str) -> Result<prx_host::config::Loaded, Faults> {
    Config::from_toml(text, Path::new(FILE), &environment())
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

//! Which file is read, on made-up machines.

use std::fs;
use std::path::{Path, PathBuf};

use prx_host::config::{
    CONFIG_VARIABLE, DiscoverError, Discovered, Environment, NamedBy, discover,
};

struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str) -> PathBuf {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        file
    }

    fn environment(&self) -> Environment {
        Environment::new(self.path("current")).with("HOME", self.path("home"))
    }
}

#[test]
fn the_flag_wins_over_the_variable_and_the_variable_over_the_standard_place() {
    let machine = Machine::new();
    let standard = machine.write("home/.config/openprx/config.toml");
    let by_variable = machine.write("variable.toml");
    let by_flag = machine.write("flag.toml");
    let bare = machine.environment();
    let with_variable = bare.clone().with(CONFIG_VARIABLE, &by_variable);
    for (flag, environment, file, named_by) in [
        (
            Some(by_flag.as_path()),
            &with_variable,
            &by_flag,
            NamedBy::Flag,
        ),
        (None, &with_variable, &by_variable, NamedBy::Variable),
        (None, &bare, &standard, NamedBy::Standard),
    ] {
        let expected = Discovered {
            file: Some(file.clone()),
            named_by,
        };
        assert_eq!(discover(flag, environment).unwrap(), expected);
    }
}

#[test]
fn xdg_config_home_moves_the_standard_place() {
    let machine = Machine::new();
    machine.write("home/.config/openprx/config.toml");
    let moved = machine.write("xdg/openprx/config.toml");
    let environment = machine
        .environment()
        .with("XDG_CONFIG_HOME", machine.path("xdg"));
    assert_eq!(discover(None, &environment).unwrap().file, Some(moved));
}

#[test]
fn no_file_at_all_is_fine() {
    let machine = Machine::new();
    assert_eq!(discover(None, &machine.environment()).unwrap().file, None);
    assert_eq!(
        discover(None, &Environment::new("/nowhere")).unwrap().file,
        None
    );
}

#[test]
fn the_current_folder_is_never_searched() {
    let machine = Machine::new();
    machine.write("current/config.toml");
    machine.write("current/openprx/config.toml");
    let environment = machine.environment().with("XDG_CONFIG_HOME", ".");
    assert_eq!(discover(None, &environment).unwrap().file, None);
}

#[test]
fn a_file_named_explicitly_must_exist() {
    let machine = Machine::new();
    machine.write("home/.config/openprx/config.toml");
    let missing = machine.path("missing.toml");
    let by_flag = discover(Some(&missing), &machine.environment());
    assert!(matches!(
        by_flag,
        Err(DiscoverError::Missing {
            named_by: NamedBy::Flag,
            ..
        })
    ));
    let environment = machine.environment().with(CONFIG_VARIABLE, &missing);
    let by_variable = discover(None, &environment);
    assert!(matches!(
        by_variable,
        Err(DiscoverError::Missing {
            named_by: NamedBy::Variable,
            ..
        })
    ));
}

#[test]
fn an_empty_variable_is_an_unset_one() {
    let machine = Machine::new();
    let environment = machine.environment().with(CONFIG_VARIABLE, "");
    assert_eq!(
        discover(None, &environment).unwrap().named_by,
        NamedBy::Standard
    );
}

#[test]
fn names_relative_to_the_current_folder_and_to_home_are_found() {
    let machine = Machine::new();
    let here = machine.write("current/here.toml");
    let home = machine.write("home/there.toml");
    let environment = machine.environment();
    for (name, file) in [("here.toml", here), ("~/there.toml", home)] {
        let found = discover(Some(Path::new(name)), &environment).unwrap();
        assert_eq!(found.file, Some(file));
    }
}

#[test]
fn a_folder_is_no_configuration_file() {
    let machine = Machine::new();
    let folder = machine.path("folder");
    fs::create_dir(&folder).unwrap();
    let found = discover(Some(&folder), &machine.environment());
    assert!(matches!(found, Err(DiscoverError::Folder { .. })));
}

//! Which folders must be watched so that no change of a module or of the configuration is
//! missed: those of the files, those that links lead to, and those in which a folder
//! itself could be replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Config;

/// What matters in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Everything.
    All,
    /// These names only: others may change often.
    Names(BTreeSet<OsString>),
}

/// Folders that exist, each by the one path that has no links in it, and what matters in
/// each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folders(BTreeMap<PathBuf, Interest>);

impl Folders {
    /// The folders of a configuration.
    pub fn of(config: &Config, config_file: Option<&Path>) -> Self {
        let mut folders = Self::default();
        let modules = &config.runtime.wasm.module_path.value;
        folders.add_whole(modules);
        for entry in fs::read_dir(modules).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_hidden {
                continue;
            }
            if path.is_dir() {
                // A skill in a folder of its own.
                folders.add_whole(&path);
                folders.add_target(&path.join("skill.wasm"));
            } else {
                folders.add_target(&path);
            }
        }
        for tool in config.tools.values() {
            let named = tool.module.as_ref().map(|module| &module.value);
            if let Some(file) = named {
                folders.add_file(&modules.join(file));
            }
        }
        if let Some(file) = config_file {
            folders.add_file(file);
        }
        folders
    }

    /// All of them.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Whether a change of this path matters.
    pub fn concern(&self, path: &Path) -> bool {
        if self.0.contains_key(path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return true;
        };
        match self.0.get(folder) {
            // A folder that is known by another name.
            None | Some(Interest::All) => true,
            Some(Interest::Names(names)) => names.contains(name),
        }
    }

    /// A folder with all that is in it; it may be replaced or not be there yet.
    fn add_whole(&mut self, folder: &Path) {
        self.add_all_in(folder);
        self.add_name(folder);
        self.add_target(folder);
    }

    /// A file, and where it leads.
    fn add_file(&mut self, file: &Path) {
        self.add_name(file);
        self.add_target(file);
    }

    /// Where a link leads: the folder of its target, and everything beside the link, since
    /// links are often replaced by way of others.
    fn add_target(&mut self, path: &Path) {
        let is_link = fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink());
        if !is_link {
            return;
        }
        if let Some(folder) = path.parent() {
            self.add_all_in(folder);
        }
        let Ok(target) = path.canonicalize() else {
            return;
        };
        self.add_all_in(&target);
        self.add_name(&target);
    }

    /// All that is in a folder, if it is one.
    fn add_all_in(&mut self, folder: &Path) {
        if let Some(folder) = real_folder(folder) {
            self.0.insert(folder, Interest::All);
        }
    }

    /// A name in its folder. Where that folder is not there, the name that leads to it in
    /// the nearest one that is.
    fn add_name(&mut self, path: &Path) {
        let mut path = path;
        while let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            if let Some(folder) = real_folder(folder) {
                let interest = self
                    .0
                    .entry(folder)
                    .or_insert_with(|| Interest::Names(BTreeSet::new()));
                if let Interest::Names(names) = interest {
                    names.insert(name.to_owned());
                }
                return;
            }
            path = folder;
        }
    }
}

/// The path of a folder without links; `None`: it is none.
fn real_folder(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Environment;

    fn folders(root: &Path, text: &str) -> Folders {
        let file = root.join("etc/config.toml");
        let environment = Environment::new(root).with("HOME", "/nowhere");
        let loaded = Config::from_toml(text, &file, &environment).unwrap();
        Folders::of(&loaded.config, Some(&file))
    }

    #[test]
    fn what_others_write_beside_a_watched_name_does_not_matter() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("mods/own")).unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        let found = folders(&root, "runtime.wasm.module_path = \"../mods\"");
        for (path, matters) in [
            ("mods", true),
            ("mods/any.wasm", true),
            ("mods/own/skill.wasm", true),
            ("etc/config.toml", true),
            ("etc/other.toml", false),
            ("other", false),
        ] {
            assert_eq!(found.concern(&root.join(path)), matters, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_waited_for_in_the_nearest_one_that_is() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("etc")).unwrap();
        let found = folders(&root, "runtime.wasm.module_path = \"../a/b/mods\"");
        let paths: Vec<&Path> = found.paths().collect();
        assert_eq!(paths, [&*root, &root.join("etc")]);
        assert!(found.concern(&root.join("a")));
        assert!(!found.concern(&root.join("b")));
    }

    #[test]
    fn links_are_watched_at_both_ends() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["mods", "store/1", "etc/..1"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("store/1/a.wasm"), "").unwrap();
        fs::write(root.join("etc/..1/config.toml"), "").unwrap();
        symlink("../store/1/a.wasm", root.join("mods/a.wasm")).unwrap();
        symlink("..1", root.join("etc/..data")).unwrap();
        symlink("..data/config.toml", root.join("etc/config.toml")).unwrap();
        let found = folders(&root, "runtime.wasm.module_path = \"../mods\"");
        for path in ["store/1/a.wasm", "etc/..data", "etc/..1/config.toml"] {
            assert!(found.concern(&root.join(path)), "{path}");
        }
        assert!(!found.concern(&root.join("store/1/b.wasm")));
    }
}

//! Which files are modules: those that a module folder has, and the one that is named as a
//! command. The one rule for tools of the configuration and for commands that an adapter
//! is asked to run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

/// What the names of modules end in.
const SUFFIX: &str = ".wasm";

/// The module of a skill that has a folder of its own, for files beside it.
pub(crate) const IN_FOLDER: &str = "skill.wasm";

/// The modules of a module folder, by their paths in there: `<name>.wasm`, and
/// `<name>/skill.wasm`. Hidden names are somebody's work in progress.
pub(crate) fn modules_in(folder: &Dir) -> std::io::Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for item in folder.entries()? {
        let item = item?;
        let name = PathBuf::from(item.file_name());
        if name.as_os_str().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = item.file_type()?;
        // Where a link leads is seen when it is followed.
        let is_folder = kind.is_dir() || (kind.is_symlink() && folder.is_dir(&name));
        if !is_folder && has_suffix(&name) {
            files.insert(name);
        } else if is_folder {
            let file = name.join(IN_FOLDER);
            if folder.symlink_metadata(&file).is_ok() {
                files.insert(file);
            }
        }
    }
    Ok(files)
}

/// The files and folders in a module folder that are no modules and look as if they were
/// meant to be: their ending is written in another case.
pub(crate) fn passed_over(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for item in std::fs::read_dir(folder)? {
        let item = item?;
        let name = PathBuf::from(item.file_name());
        let is_hidden = name.as_os_str().as_encoded_bytes().starts_with(b".");
        let looks_like_one = name
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("wasm"));
        if !is_hidden && looks_like_one && !has_suffix(&name) && item.path().is_file() {
            names.push(item.path());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The name of a module by its path in the module folder. What is not UTF-8 in it is
/// replaced, which leaves nothing that could be a tool's name.
pub(crate) fn module_name(file: &Path) -> String {
    let named = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.as_os_str(),
        _ => file.file_stem().unwrap_or_default(),
    };
    named.to_string_lossy().into_owned()
}

/// The file of a command: by its path in the module folder `folder`, or an absolute path
/// elsewhere. A bare name goes without its ending; a path is taken as it stands.
pub(crate) fn module_file(command: &str, folder: &Path) -> PathBuf {
    let named = Path::new(command);
    let inside = named.strip_prefix(folder).unwrap_or(named);
    let mut file = inside.as_os_str().to_owned();
    if inside.components().count() == 1 && !inside.is_absolute() && !has_suffix(inside) {
        file.push(SUFFIX);
    }
    file.into()
}

/// Whether that file is there and by its name a module. What can not be found out is no.
pub(crate) fn is_module(file: &Path, folder: Option<&Dir>) -> bool {
    has_suffix(file)
        && if file.is_absolute() {
            file.is_file()
        } else {
            folder.is_some_and(|folder| folder.is_file(file))
        }
}

fn has_suffix(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "wasm")
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn an_ending_in_another_case_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["UP.WASM", "a.wasm", "b.Wasm", ".c.WASM", "d.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("e.WASM")).unwrap();
        let expected = ["UP.WASM", "b.Wasm"].map(|name| folder.path().join(name));
        assert_eq!(passed_over(folder.path()).unwrap(), expected);
    }

    #[test]
    fn a_module_folder_has_files_and_folders_of_skills() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["own", "empty", "dir.wasm", ".hidden"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        for name in [
            "b.wasm",
            "a.wasm",
            "a.txt",
            ".c.wasm",
            "d.wasm~",
            "own/skill.wasm",
            "own/data.wasm",
            "dir.wasm/other",
            ".hidden/skill.wasm",
        ] {
            std::fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("own", root.join("linked")).unwrap();
        let opened = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
        let found = modules_in(&opened).unwrap();
        let named: Vec<_> = found
            .iter()
            .map(|file| (file.to_str().unwrap(), module_name(file)))
            .collect();
        let expected = [
            ("a.wasm", "a"),
            ("b.wasm", "b"),
            ("linked/skill.wasm", "linked"),
            ("own/skill.wasm", "own"),
        ];
        assert_eq!(named, expected.map(|(file, name)| (file, name.to_owned())));
    }

    #[test]
    fn a_bare_name_gets_its_ending_and_a_path_stays() {
        for (named, file) in [
            ("jq", "jq.wasm"),
            ("jq.wasm", "jq.wasm"),
            ("jq-1.7", "jq-1.7.wasm"),
            ("bin/jq", "bin/jq"),
            ("bin/jq.wasm", "bin/jq.wasm"),
            ("/modules/jq.wasm", "jq.wasm"),
            ("/modules/bin/jq.wasm", "bin/jq.wasm"),
            ("/bin/jq", "/bin/jq"),
        ] {
            assert_eq!(module_file(named, Path::new("/modules")), Path::new(file));
        }
    }

    #[test]
    fn only_files_of_modules_are_modules() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("modules");
        std::fs::create_dir_all(folder.join("folder.wasm")).unwrap();
        for file in ["modules/jq.wasm", "modules/ls", "outside.wasm", "program"] {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        let opened = Dir::open_ambient_dir(&folder, ambient_authority()).unwrap();
        let is_module = |command: &str| {
            let file = module_file(command, &folder);
            is_module(&file, Some(&opened))
        };
        let absolute = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        for command in [
            "jq",
            "jq.wasm",
            &absolute("modules/jq.wasm"),
            &absolute("outside.wasm"),
        ] {
            assert!(is_module(command), "{command}");
        }
        for command in [
            "",
            "ls",
            "folder",
            "./ls",
            "../outside.wasm",
            &absolute("program"),
            &absolute("none.wasm"),
            &"x".repeat(300),
        ] {
            assert!(!is_module(command), "{command}");
        }
    }
}

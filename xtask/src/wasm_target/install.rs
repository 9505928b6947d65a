//! Lays a built standard library into a folder. Whoever finds `libstd` there finds
//! all the rest: it comes last. A list of what was laid allows to replace it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::TARGET;
use super::debian::Built;

/// Names, one a line, of the files that were laid into the folder.
const LIST: &str = "laid-by-cargo-xtask.txt";

/// An error with a remedy if nothing can be written into `dir`. Makes the folder.
pub fn check_writable(dir: &Path) -> Result<()> {
    let written = fs::create_dir_all(dir)
        .and_then(|()| tempfile::NamedTempFile::new_in(dir))
        .and_then(tempfile::NamedTempFile::close);
    match written {
        Ok(()) => Ok(()),
        Err(why) => bail!(
            "`{}` can not be written: {why}\n    help: run `cargo xtask wasm-target --into DIR` with \
             a folder of yours and paste the line that it prints, or run `cargo xtask wasm-target` \
             once as the owner of the toolchain",
            dir.display()
        ),
    }
}

/// Lays the files of a build into `dir`, in place of those that were laid before.
pub fn lay(built: &Built, dir: &Path) -> Result<()> {
    lay_all(built, dir).with_context(|| format!("could not lay {TARGET} into `{}`", dir.display()))
}

fn lay_all(built: &Built, dir: &Path) -> io::Result<()> {
    remove_listed(dir)?;
    fs::create_dir_all(dir.join("self-contained"))?;
    let mut files: Vec<_> = built
        .self_contained
        .iter()
        .map(|file| (file, format!("self-contained/{}", name_of(file))))
        .chain(built.libraries.iter().map(|file| (file, name_of(file))))
        .collect();
    files.sort_by_key(|(_, name)| name.starts_with("libstd-"));
    let mut list = String::new();
    for (_, name) in &files {
        let _ = writeln!(list, "{name}");
    }
    // Before the files: an interrupted run leaves nothing that is not listed.
    fs::write(dir.join(LIST), list)?;
    for (from, name) in files {
        fs::copy(from, dir.join(name))?;
    }
    Ok(())
}

/// Another version's files would make rustc choose between two of each.
fn remove_listed(dir: &Path) -> io::Result<()> {
    let list = match fs::read_to_string(dir.join(LIST)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        list => list?,
    };
    for name in list.lines() {
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(folder: &Path, names: &[&str]) -> Built {
        let libraries: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        let self_contained = vec![folder.join("crt1.o")];
        for file in libraries.iter().chain(&self_contained) {
            fs::write(file, "x").unwrap();
        }
        Built {
            libraries,
            self_contained,
        }
    }

    #[test]
    fn a_second_version_replaces_the_first() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(to.path().join("of-somebody-else.rlib"), "x").unwrap();
        lay(
            &built(from.path(), &["libstd-1.rlib", "libcore-1.rlib"]),
            to.path(),
        )
        .unwrap();
        lay(
            &built(from.path(), &["libstd-2.rlib", "libcore-2.rlib"]),
            to.path(),
        )
        .unwrap();
        let mut names: Vec<_> = fs::read_dir(to.path())
            .unwrap()
            .map(|entry| name_of(&entry.unwrap().path()))
            .collect();
        names.sort();
        let expected = [
            LIST,
            "libcore-2.rlib",
            "libstd-2.rlib",
            "of-somebody-else.rlib",
            "self-contained",
        ];
        assert_eq!(names, expected);
        assert!(to.path().join("self-contained/crt1.o").exists());
    }

    #[test]
    fn the_standard_library_itself_comes_last() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let built = built(from.path(), &["libstd-1.rlib", "libcore-1.rlib"]);
        // A file that can not be copied interrupts the run.
        fs::remove_file(from.path().join("libcore-1.rlib")).unwrap();
        lay(&built, to.path()).unwrap_err();
        assert!(!to.path().join("libstd-1.rlib").exists());
    }

    #[test]
    fn a_folder_that_can_not_be_written_is_an_error_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        let error = check_writable(&folder.path().join("file/lib"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("can not be written"), "{error}");
        assert!(
            error.contains("cargo xtask wasm-target --into DIR"),
            "{error}"
        );
    }
}

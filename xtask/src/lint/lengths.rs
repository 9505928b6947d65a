//! No file that people read grows past its limit: a long file is two ideas.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Lines of a source file.
const SOURCE: usize = 400;

/// Lines of `ARCHITECTURE.md`, which must stay a map.
const ARCHITECTURE: usize = 200;

/// Checks all files of the workspace.
pub fn check(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    collect(root, root, &mut files)?;
    let mut long = Vec::new();
    for (file, limit) in &files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("could not read `{}`", file.display()))?;
        let lines = text.lines().count();
        if lines > *limit {
            long.push(format!(
                "`{}` has {lines} lines, {limit} at most",
                file.display()
            ));
        }
    }
    if long.is_empty() {
        return Ok(format!("{} files", files.len()));
    }
    bail!(
        "{} files are too long: split them\n      {}",
        long.len(),
        long.join("\n      ")
    );
}

/// Files with a limit, relative to the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, usize)>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("could not read `{}`", folder.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        let below = path.strip_prefix(root)?;
        // Of a symbolic link, the kind is neither: what it leads to is seen elsewhere.
        let kind = entry.file_type()?;
        if kind.is_dir() && !is_foreign(below, &path) {
            collect(root, &path, files)?;
        } else if kind.is_file()
            && let Some(limit) = limit_of(below)
        {
            files.push((below.to_owned(), limit));
        }
    }
    Ok(())
}

/// Folders whose files nobody here wrote, or that tests feed to the host.
fn is_foreign(below: &Path, path: &Path) -> bool {
    let name = below.file_name().unwrap_or_default().to_string_lossy();
    let vendored = below.starts_with("wit") && name == "deps";
    let generated = below == Path::new("target") || below == Path::new("demo");
    let hidden = name.starts_with('.') && name != ".ci" && name != ".cargo";
    // A build folder of any name carries this mark.
    let build = path.join("CACHEDIR.TAG").exists();
    vendored || generated || hidden || build || name == "fixtures"
}

fn limit_of(below: &Path) -> Option<usize> {
    if below == Path::new("ARCHITECTURE.md") {
        return Some(ARCHITECTURE);
    }
    let is_source = below
        .extension()
        .is_some_and(|kind| ["rs", "wit", "toml"].iter().any(|source| kind == *source));
    (is_source || below.starts_with(".ci")).then_some(SOURCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, lines: usize) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n".repeat(lines)).unwrap();
    }

    #[test]
    fn a_file_past_its_limit_is_named_with_its_length() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "host/src/good.rs", 400);
        assert_eq!(check(root.path()).unwrap(), "1 files");
        write(root.path(), "host/src/long.rs", 401);
        write(root.path(), "ARCHITECTURE.md", 201);
        let error = check(root.path()).unwrap_err().to_string();
        assert!(
            error.contains("`host/src/long.rs` has 401 lines, 400 at most"),
            "{error}"
        );
        assert!(
            error.contains("`ARCHITECTURE.md` has 201 lines, 200 at most"),
            "{error}"
        );
        assert!(!error.contains("good.rs"), "{error}");
    }

    #[test]
    fn files_that_nobody_here_wrote_have_no_limit() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "wit/0.1.0/deps/cli.wit",
            "tests/suites/fixtures/huge.toml",
            "target/debug/build/x.rs",
            "demo/config.toml",
            ".git/x.rs",
            "README.md",
        ] {
            write(root.path(), name, 500);
        }
        write(root.path(), "out/CACHEDIR.TAG", 1);
        write(root.path(), "out/debug/x.rs", 500);
        assert_eq!(check(root.path()).unwrap(), "0 files");
        write(root.path(), "xtask/src/demo/mod.rs", 500);
        check(root.path()).unwrap_err();
    }
}

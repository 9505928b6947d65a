//! A file that the demo writes and a person may change: once changed it is his. A
//! copy of what was written last tells whether it was.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};

/// What becomes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is written.
    Write,
    /// It is as it would be written.
    Leave,
    /// A person changed it: it stays.
    Keep,
}

/// Decides from what is there, what was written last, and what would be written.
fn decide(present: Option<&str>, written: Option<&str>, wanted: &str) -> Decision {
    match present {
        None => Decision::Write,
        Some(present) if present == wanted => Decision::Leave,
        Some(present) if written == Some(present) => Decision::Write,
        Some(_) => Decision::Keep,
    }
}

/// Writes `text` to `path`, unless a person changed what is there; `copy` remembers
/// what was written.
pub fn write_unless_changed(path: &Path, copy: &Path, text: &str) -> Result<Decision> {
    let decision = decide(read(path)?.as_deref(), read(copy)?.as_deref(), text);
    match decision {
        Decision::Write => {
            // The copy last: whatever an interruption leaves is never taken for ours by mistake.
            write(path, text)?;
            write(copy, text)?;
        }
        Decision::Leave => write(copy, text)?,
        Decision::Keep => {}
    }
    Ok(decision)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        // Whoever wrote it, what is not UTF-8 is not what the demo wrote.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("could not read `{}`", path.display())),
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("could not write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_only_where_nobody_changed_it() {
        let new = "new";
        assert_eq!(decide(None, None, new), Decision::Write);
        assert_eq!(decide(None, Some("old"), new), Decision::Write);
        assert_eq!(decide(Some("old"), Some("old"), new), Decision::Write);
        assert_eq!(decide(Some("new"), Some("old"), new), Decision::Leave);
        assert_eq!(decide(Some("mine"), Some("old"), new), Decision::Keep);
        assert_eq!(decide(Some("mine"), None, new), Decision::Keep);
    }

    #[test]
    fn a_changed_file_stays_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (
            folder.path().join("config.toml"),
            folder.path().join("copy"),
        );
        let write = |text| write_unless_changed(&path, &copy, text).unwrap();
        assert_eq!(write("first"), Decision::Write);
        assert_eq!(write("second"), Decision::Write);
        assert_eq!(write("second"), Decision::Leave);
        fs::write(&path, "mine").unwrap();
        assert_eq!(write("third"), Decision::Keep);
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        fs::remove_file(&path).unwrap();
        assert_eq!(write("third"), Decision::Write);
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    }
}

//! Names of modules: what a file in the module folder may be called, so that its tools
//! can be called by it.

use std::fmt;
use std::path::Path;

use super::InstallError;
use crate::registry::{MAX_NAME_BYTES, is_name, is_name_byte};

/// A name that matches `^[a-zA-Z0-9_-]{1,64}$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleName(String);

impl ModuleName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`InstallError::Name`] with a name that is near and would do, if there is one.
    pub fn new(name: &str) -> Result<Self, InstallError> {
        if is_name(name) {
            return Ok(Self(name.to_owned()));
        }
        Err(InstallError::Name {
            name: name.chars().flat_map(char::escape_debug).collect(),
            near: near(name),
        })
    }

    /// The name of a file without its ending.
    ///
    /// # Errors
    ///
    /// As [`ModuleName::new`].
    pub fn of_file(file: &Path) -> Result<Self, InstallError> {
        Self::new(&file.file_stem().unwrap_or_default().to_string_lossy())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file in the module folder.
    pub fn file_name(&self) -> String {
        format!("{}.wasm", self.0)
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name with `_` for each run of what may not be in it.
fn near(name: &str) -> Option<String> {
    let words: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii() || !is_name_byte(letter as u8))
        .filter(|word| !word.is_empty())
        .collect();
    let mut near = words.join("_");
    near.truncate(MAX_NAME_BYTES);
    (!near.is_empty()).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_tools_may_have() {
        for name in ["a", "Notes-2_x", &"n".repeat(64)] {
            assert_eq!(ModuleName::new(name).unwrap().as_str(), name);
        }
        let long = "n".repeat(65);
        for (name, near) in [
            ("", None),
            ("...", None),
            ("..", None),
            ("a/b", Some("a_b")),
            ("my skill", Some("my_skill")),
            ("jq-1.7", Some("jq-1_7")),
            ("a\nb", Some("a_b")),
            ("größe", Some("gr_e")),
            (long.as_str(), Some(&long[..64])),
        ] {
            match ModuleName::new(name).unwrap_err() {
                InstallError::Name { near: found, .. } => {
                    assert_eq!(found.as_deref(), near, "{name:?}");
                }
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn a_file_is_named_without_its_folder_and_ending() {
        for (file, name) in [("/a.b/notes.wasm", "notes"), ("notes", "notes")] {
            assert_eq!(ModuleName::of_file(Path::new(file)).unwrap().as_str(), name);
        }
        ModuleName::of_file(Path::new("/")).unwrap_err();
        ModuleName::of_file(Path::new("notes.tar.gz")).unwrap_err();
    }
}

//! Names of database files. Invariant: two namespaces never share a file, also where
//! the file system takes `Notes` and `notes` for the same name.

/// What every database file ends with.
const ENDING: &str = ".sqlite3";

/// The file of a namespace, or `None` if the name is not `^[a-zA-Z0-9_-]{1,64}$`.
///
/// A capital is written as `+` and its small letter; `+` is in no name.
pub(super) fn of_namespace(name: &str) -> Option<String> {
    let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_allowed) {
        return None;
    }
    let mut file = String::with_capacity(name.len() + ENDING.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            file.push('+');
        }
        file.push(letter.to_ascii_lowercase());
    }
    file.push_str(ENDING);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::of_namespace;

    #[test]
    fn names_that_differ_by_case_have_files_that_differ_without_case() {
        let files: Vec<_> = ["notes", "Notes", "nOtes", "NOTES", "n-otes", "n_otes"]
            .iter()
            .map(|name| of_namespace(name).unwrap().to_ascii_lowercase())
            .collect();
        for (index, file) in files.iter().enumerate() {
            assert!(!files[index + 1..].contains(file), "{file} is used twice");
        }
        assert_eq!(files[0], "notes.sqlite3");
        assert_eq!(files[1], "+notes.sqlite3");
    }

    #[test]
    fn the_longest_name_fits_into_a_file_name_with_its_neighbours() {
        let file = of_namespace(&"N".repeat(64)).unwrap();
        assert!(format!("{file}-wal").len() <= 255);
    }

    #[test]
    fn names_that_could_lead_elsewhere_are_refused() {
        let long = "n".repeat(65);
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "a\\b",
            "a.b",
            "a+b",
            "a\0",
            "ä",
            "a b",
            long.as_str(),
        ] {
            assert_eq!(of_namespace(name), None, "{name:?} was accepted");
        }
    }
}

//! Turns titles into file names. Invariant: whatever the title, the name is one plain
//! component of a path that no system treats specially, and naming a name changes nothing.

/// Longest name in bytes, which leaves room for an extension and a temporary suffix in the
/// 255 bytes of common file systems.
const MAX_NAME_BYTES: usize = 100;

/// Names that Windows gives to devices, whatever their extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name of the note with this title: its letters and digits in lower case, joined by
/// hyphens. `None` if the title has neither.
pub fn name_of(title: &str) -> Option<String> {
    let mut name = String::new();
    let mut separator = false;
    for letter in title.chars().flat_map(char::to_lowercase) {
        // An accent that is a character of its own stays with its letter.
        let accent = ('\u{300}'..='\u{36f}').contains(&letter);
        let belongs = letter.is_alphanumeric() || (accent && !separator && !name.is_empty());
        if !belongs {
            separator = true;
            continue;
        }
        let hyphen = usize::from(separator && !name.is_empty());
        if name.len() + hyphen + letter.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        if hyphen == 1 {
            name.push('-');
        }
        separator = false;
        name.push(letter);
    }
    if is_device(&name) {
        name.push_str("-note");
    }
    (!name.is_empty()).then_some(name)
}

fn is_device(name: &str) -> bool {
    const NUMBERS: &str = "0123456789\u{b9}\u{b2}\u{b3}";
    let numbered = |prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.chars().count() == 1 && NUMBERS.contains(rest))
    };
    DEVICES.contains(&name) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_become_readable_names() {
        for (title, name) in [
            ("Plan for May", "plan-for-may"),
            ("  C++ & Rust!  ", "c-rust"),
            ("\u{dc}berblick 2025/06", "\u{fc}berblick-2025-06"),
            ("\u{65e5}\u{8a18}", "\u{65e5}\u{8a18}"),
            ("../../etc/passwd", "etc-passwd"),
            ("cafe\u{301} au lait", "cafe\u{301}-au-lait"),
            ("CON", "con-note"),
            ("com7", "com7-note"),
            ("LPT\u{b9}", "lpt\u{b9}-note"),
            ("comma", "comma"),
            (".hidden", "hidden"),
        ] {
            assert_eq!(name_of(title).as_deref(), Some(name), "{title}");
        }
    }

    #[test]
    fn a_title_without_letters_and_digits_has_no_name() {
        for title in ["", " ", "..", "../..", "!?", "\u{301}", "\u{1F980}"] {
            assert_eq!(name_of(title), None, "{title:?}");
        }
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        let name = name_of(&"\u{fc}".repeat(300)).unwrap();
        assert_eq!(name.len(), MAX_NAME_BYTES);
        assert_eq!(
            name_of(&"abcd ".repeat(300)).unwrap().len(),
            MAX_NAME_BYTES - 1
        );
    }

    fn titles() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[./\\\\: a-c\u{0}\n]{0,20}",
            "(\\.\\./|/|C:\\\\|~/|\u{2024}){0,5}[A-Z]{0,3}",
            "(?i)(con|aux|nul|prn|com[0-9\u{b9}]|lpt[0-9])",
        ]
    }

    proptest! {
        #[test]
        fn a_name_is_always_one_plain_component(title in titles()) {
            let Some(name) = name_of(&title) else { return Ok(()) };
            let components: Vec<_> = Path::new(&name).components().collect();
            prop_assert!(matches!(components[..], [Component::Normal(_)]), "{:?}", name);
            prop_assert!(name.len() <= MAX_NAME_BYTES + "-note".len());
            prop_assert!(!name.contains(['/', '\\', ':', '.', '\0']) && !is_device(&name));
            prop_assert!(!name.chars().any(char::is_control));
        }

        #[test]
        fn naming_a_name_changes_nothing(title in titles()) {
            if let Some(name) = name_of(&title) {
                prop_assert_eq!(name_of(&name), Some(name));
            }
        }
    }
}

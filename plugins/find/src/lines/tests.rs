//! Searches of real files in temporary folders.

use std::fs;

use super::*;

fn folder_of(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, bytes) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn search_in(root: &Path, search: &Search) -> Lines {
    let scope = Scope {
        root,
        path: "",
        hidden: false,
        max_entries: 1000,
    };
    find_lines(scope, search, &mut |_| {}).unwrap()
}

fn places(lines: &Lines) -> Vec<(&str, usize)> {
    lines
        .matches
        .iter()
        .map(|found| (found.path.as_str(), found.line))
        .collect()
}

#[test]
fn lines_are_found_with_their_numbers_in_the_order_of_files() {
    let folder = folder_of(&[
        ("b.md", b"one\nTwo two\n"),
        ("a/c.md", b"x\r\ny\r\nand two\r\n"),
    ]);
    let lines = search_in(folder.path(), &Search::new("two", false, false).unwrap());
    assert_eq!(places(&lines), [("a/c.md", 3), ("b.md", 2)]);
    assert_eq!(lines.matches[0].text, "and two");
    assert_eq!((lines.files_searched, lines.files_matched), (2, 2));
    assert!(lines.complete);
    assert_eq!(lines.note, None);
}

#[test]
fn plain_text_means_its_very_characters() {
    let folder = folder_of(&[("a.md", b"axb\na.b\nA.B")]);
    let plain = search_in(folder.path(), &Search::new("a.b", false, true).unwrap());
    assert_eq!(places(&plain), [("a.md", 2)]);
    let expression = search_in(folder.path(), &Search::new("^a.b$", true, false).unwrap());
    assert_eq!(expression.matches.len(), 3);
}

#[test]
fn case_is_ignored_beyond_ascii_too() {
    let folder = folder_of(&[("a.md", "\u{dc}ber".as_bytes())]);
    let lines = search_in(
        folder.path(),
        &Search::new("\u{fc}BER", false, false).unwrap(),
    );
    assert_eq!(lines.matches.len(), 1);
}

#[test]
fn context_stops_at_the_ends_of_the_file() {
    let folder = folder_of(&[("a.md", b"1\n2\n3 hit\n4\n5\n6 hit")]);
    let search = Search {
        context: 2,
        ..Search::new("hit", false, false).unwrap()
    };
    let lines = search_in(folder.path(), &search);
    assert_eq!(lines.matches[0].before, ["1", "2"]);
    assert_eq!(lines.matches[0].after, ["4", "5"]);
    assert_eq!(lines.matches[1].before, ["4", "5"]);
    assert!(lines.matches[1].after.is_empty());
}

#[test]
fn binary_files_are_skipped_and_named_in_the_note() {
    let folder = folder_of(&[("a.bin", b"hit\0"), ("b.md", b"hit"), ("c.md", b"\xe9 hit")]);
    let lines = search_in(folder.path(), &Search::new("hit", false, false).unwrap());
    assert_eq!(places(&lines), [("b.md", 1), ("c.md", 1)]);
    assert!(lines.complete);
    assert_eq!(lines.note.as_deref(), Some("binary files skipped: 1"));
}

#[test]
fn a_file_over_the_size_limit_makes_the_search_incomplete() {
    let folder = folder_of(&[("a.md", b"hit")]);
    let large = File::create(folder.path().join("large.txt")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    let lines = search_in(folder.path(), &Search::new("hit", false, false).unwrap());
    assert_eq!(lines.matches.len(), 1);
    assert!(!lines.complete);
    assert!(lines.note.unwrap().contains("8 MiB"));
}

#[test]
fn only_files_of_the_pattern_are_searched() {
    let folder = folder_of(&[("a.md", b"hit"), ("b.txt", b"hit")]);
    let search = Search {
        files: Some(Pattern::new("*.txt", false).unwrap()),
        ..Search::new("hit", false, false).unwrap()
    };
    let lines = search_in(folder.path(), &search);
    assert_eq!(places(&lines), [("b.txt", 1)]);
    assert_eq!(lines.files_searched, 1);
}

#[test]
fn the_limit_of_lines_ends_the_search_only_when_there_is_more() {
    let folder = folder_of(&[("a.md", b"hit\nhit\nhit\n")]);
    let search = |limit| Search {
        limit,
        ..Search::new("hit", false, false).unwrap()
    };
    let lines = search_in(folder.path(), &search(2));
    assert_eq!(lines.matches.len(), 2);
    assert!(lines.note.unwrap().contains("more than 2 lines match"));
    assert!(search_in(folder.path(), &search(3)).complete);
}

#[test]
fn the_answer_stays_small_however_long_the_lines_are() {
    let long = format!("{}hit{}\n", "\u{e4}".repeat(5000), "x".repeat(5000));
    let folder = folder_of(&[("a.md", long.repeat(400).as_bytes())]);
    let search = Search {
        limit: 1000,
        ..Search::new("hit", false, false).unwrap()
    };
    let lines = search_in(folder.path(), &search);
    let found = &lines.matches[0].text;
    assert!(found.starts_with('\u{2026}') && found.ends_with('\u{2026}') && found.contains("hit"));
    assert_eq!(found.chars().count(), MAX_LINE_CHARACTERS + 2);
    let bytes: usize = lines.matches.iter().map(|found| found.text.len()).sum();
    assert!(bytes < MAX_TEXT_BYTES + 2000, "{bytes}");
    assert_eq!(lines.matches.len(), 400);
    let all = Search {
        context: 5,
        limit: 1000,
        ..Search::new("hit", false, false).unwrap()
    };
    assert!(
        search_in(folder.path(), &all)
            .note
            .unwrap()
            .contains("lower `context`")
    );
}

#[test]
fn progress_counts_the_searched_files_upwards() {
    let folder = folder_of(&[("a.md", b"1"), ("b.md", b"2"), ("c.md", b"\0")]);
    let mut heard = Vec::new();
    let scope = Scope {
        root: folder.path(),
        path: "",
        hidden: false,
        max_entries: 1000,
    };
    let search = Search::new("x", false, false).unwrap();
    find_lines(scope, &search, &mut |done| heard.push(done)).unwrap();
    assert_eq!(heard, [1, 2]);
}

#[test]
fn malformed_queries_say_what_is_wrong() {
    assert_eq!(
        Search::new("", true, true).err(),
        Some(FindError::EmptyQuery)
    );
    let error = Search::new("a(b", true, false).err().unwrap();
    assert!(error.to_string().contains("unclosed group"), "{error}");
    let huge = Search::new(r"\w{500}{500}", true, false).err().unwrap();
    assert!(matches!(huge, FindError::BadExpression { .. }), "{huge}");
}

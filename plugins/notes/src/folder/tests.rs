//! Notes in real temporary folders.

use proptest::prelude::*;

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::open(root.path(), "md").unwrap();
    (root, folder)
}

fn files(root: &Path) -> Vec<String> {
    let names = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_note_is_one_markdown_file_and_nothing_else_is_left() {
    let (root, folder) = folder();
    let written = folder.add("Plan for May", "sow\n", None).unwrap();
    assert_eq!(
        (written.name.as_str(), written.replaced),
        ("plan-for-may", false)
    );
    assert_eq!(files(root.path()), ["plan-for-may.md"]);
    let content = fs::read_to_string(root.path().join("plan-for-may.md")).unwrap();
    assert_eq!(content, "# Plan for May\n\nsow\n");
    let note = folder.read("Plan for May").unwrap();
    assert_eq!(note, folder.read("plan-for-may").unwrap());
    assert_eq!(note.revision, written.revision);
}

#[test]
fn a_title_that_is_taken_is_a_conflict_and_changes_nothing() {
    let (root, folder) = folder();
    let first = folder.add("Plan", "one", None).unwrap();
    let error = folder.add("PLAN!", "two", None).unwrap_err();
    match error {
        NoteError::Exists { name, revision } => {
            assert_eq!((name.as_str(), revision), ("plan", first.revision));
        }
        other => panic!("{other}"),
    }
    assert_eq!(folder.read("plan").unwrap().text, "one");
    assert_eq!(files(root.path()), ["plan.md"]);
}

#[test]
fn a_note_is_replaced_only_by_one_who_knows_its_revision() {
    let (root, folder) = folder();
    let first = folder.add("Plan", "one", None).unwrap();
    let second = folder.add("Plan", "two", Some(&first.revision)).unwrap();
    assert!(second.replaced);
    let error = folder
        .add("Plan", "three", Some(&first.revision))
        .unwrap_err();
    assert!(
        matches!(&error, NoteError::Changed { revision, .. } if *revision == second.revision),
        "{error}"
    );
    let error = folder.add("New", "x", Some(&first.revision)).unwrap_err();
    assert!(matches!(error, NoteError::NotFound { .. }), "{error}");
    assert_eq!(folder.read("plan").unwrap().text, "two");
    assert_eq!(files(root.path()), ["plan.md"]);
}

#[test]
fn of_writers_at_once_exactly_one_creates_the_note() {
    let (root, folder) = folder();
    let results: Vec<_> = std::thread::scope(|scope| {
        let folder = &folder;
        let writers: Vec<_> = (0..8)
            .map(|n| scope.spawn(move || folder.add("Same", &n.to_string(), None)))
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Ok(_) | Err(NoteError::Exists { .. }))),
        "{results:?}"
    );
    assert_eq!(files(root.path()), ["same.md"]);
}

#[test]
fn removing_checks_the_revision_when_it_is_given() {
    let (root, folder) = folder();
    let written = folder.add("Plan", "one", None).unwrap();
    let error = folder.remove("plan", Some("0000000000000000")).unwrap_err();
    assert!(matches!(error, NoteError::Changed { .. }), "{error}");
    assert_eq!(
        folder.remove("Plan", Some(&written.revision)).unwrap().text,
        "one"
    );
    assert!(files(root.path()).is_empty());
    let error = folder.remove("plan", None).unwrap_err();
    assert!(matches!(error, NoteError::NotFound { .. }), "{error}");
}

#[test]
fn lists_show_only_notes_the_last_changed_first() {
    let (root, folder) = folder();
    folder.add("Old", "x", None).unwrap();
    folder.add("New", "x", None).unwrap();
    let old = File::options()
        .append(true)
        .open(root.path().join("old.md"))
        .unwrap();
    old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    fs::write(root.path().join("Not A Name.md"), "x").unwrap();
    fs::write(root.path().join("other.txt"), "x").unwrap();
    fs::write(root.path().join(".new.0.tmp"), "x").unwrap();
    fs::create_dir(root.path().join("folder.md")).unwrap();
    let listing = folder.list(10).unwrap();
    let names: Vec<_> = listing
        .notes
        .iter()
        .map(|note| note.name.as_str())
        .collect();
    assert_eq!(names, ["new", "old"]);
    assert_eq!(
        listing.notes[1].changed.as_deref(),
        Some("1970-01-01T00:00:00Z")
    );
    let short = folder.list(1).unwrap();
    assert_eq!((short.notes.len(), short.total), (1, 2));
}

#[test]
fn a_leftover_of_a_stopped_writer_does_not_stop_the_next() {
    let (root, folder) = folder();
    fs::write(root.path().join(".plan.0.tmp"), "half").unwrap();
    folder.add("Plan", "whole", None).unwrap();
    assert_eq!(folder.read("plan").unwrap().text, "whole");
    assert_eq!(files(root.path()), [".plan.0.tmp", "plan.md"]);
}

#[test]
fn a_missing_folder_and_a_bad_extension_are_the_operators_to_mend() {
    let (root, _folder) = folder();
    let error = Folder::open(&root.path().join("nowhere"), "md").unwrap_err();
    assert!(matches!(error, NoteError::NotGranted { .. }), "{error}");
    for extension in ["", ".md", "a/b", "123456789"] {
        let error = Folder::open(root.path(), extension).unwrap_err();
        assert!(matches!(error, NoteError::BadExtension { .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_title_writes_outside_of_the_folder(
        title in prop_oneof![any::<String>(), "(\\.\\./|/|\\\\|~|[a-c. ]){0,12}"],
    ) {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("deep/notes");
        fs::create_dir_all(&root).unwrap();
        let folder = Folder::open(&root, "md").unwrap();
        let added = folder.add(&title, "text", None).is_ok();
        prop_assert_eq!(files(outer.path()), ["deep"]);
        prop_assert_eq!(files(&outer.path().join("deep")), ["notes"]);
        prop_assert_eq!(files(&root).len(), usize::from(added));
        if added {
            prop_assert_eq!(&folder.read(&title).unwrap().text, "text");
        }
    }
}

#[test]
fn a_folder_that_may_only_be_read_is_told_with_the_key_to_set() {
    let (_root, folder) = folder();
    for kind in [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ] {
        let error = folder.failed("plan", "written", kind.into());
        assert!(error.to_string().contains("filesystem_write"), "{error}");
    }
    let error = folder.failed("plan", "read", io::ErrorKind::PermissionDenied.into());
    assert!(matches!(error, NoteError::Io { .. }), "{error}");
}

//! Files that are damaged, foreign, newer or locked, and folders that can not be used:
//! the answer names the file and the reason, and nothing on the disk changes.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::super::{Namespace, StateError, StateStore};
use super::{AMPLE, fresh_namespace};

/// All operations must fail alike; gives the text.
fn text_of_failure(state: &Namespace) -> String {
    let Err(StateError::Unavailable(text)) = state.set("k", b"v", AMPLE) else {
        panic!("a write was expected to be unavailable");
    };
    assert!(matches!(
        state.get("k", AMPLE),
        Err(StateError::Unavailable(_))
    ));
    assert!(matches!(
        state.usage(AMPLE),
        Err(StateError::Unavailable(_))
    ));
    assert!(text.contains(&state.path().display().to_string()), "{text}");
    text
}

/// A namespace whose file has been written and closed.
fn closed_file(folder: &Path) -> std::path::PathBuf {
    let state = StateStore::new(folder).namespace("notes").unwrap();
    for number in 0..50 {
        state
            .set(&format!("key {number}"), &[b'v'; 400], AMPLE)
            .unwrap();
    }
    state.path().to_owned()
}

#[test]
fn a_file_that_is_no_database_is_reported_and_kept() {
    let (_folder, state) = fresh_namespace();
    std::fs::create_dir_all(state.path().parent().unwrap()).unwrap();
    let content = b"these are someone's notes, not a database".repeat(100);
    std::fs::write(state.path(), &content).unwrap();
    let text = text_of_failure(&state);
    assert!(
        text.contains("damaged") && text.contains("left as it is"),
        "{text}"
    );
    assert_eq!(std::fs::read(state.path()).unwrap(), content);
}

#[test]
fn a_truncated_file_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_file(folder.path());
    let whole = std::fs::read(&path).unwrap();
    for length in [50, 100, 1000, 4096, whole.len() / 2] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let state = StateStore::new(folder.path()).namespace("notes").unwrap();
        let text = match state.keys("", None, 1000, AMPLE) {
            Err(StateError::Unavailable(text)) => text,
            other => panic!("{length} bytes answered {other:?}"),
        };
        assert!(text.contains("damaged"), "{length} bytes: {text}");
        drop(state);
        assert_eq!(
            std::fs::read(&path).unwrap(),
            whole[..length],
            "{length} bytes were changed"
        );
    }
}

#[test]
fn a_damaged_page_is_reported_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_file(folder.path());
    let mut content = std::fs::read(&path).unwrap();
    // Everything but the first page, which holds the header and the schema.
    content[4096..].fill(0xa5);
    std::fs::write(&path, &content).unwrap();
    let state = StateStore::new(folder.path()).namespace("notes").unwrap();
    let text = text_of_failure(&state);
    assert!(text.contains("damaged"), "{text}");
    drop(state);
    assert_eq!(std::fs::read(&path).unwrap(), content);
}

#[test]
fn a_file_of_a_newer_host_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = closed_file(folder.path());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 2)
        .unwrap();
    let content = std::fs::read(&path).unwrap();
    let state = StateStore::new(folder.path()).namespace("notes").unwrap();
    let text = text_of_failure(&state);
    assert!(
        text.contains("format 2") && text.contains("newer prx-host"),
        "{text}"
    );
    drop(state);
    assert_eq!(std::fs::read(&path).unwrap(), content);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let (_folder, state) = fresh_namespace();
    std::fs::create_dir_all(state.path().parent().unwrap()).unwrap();
    Connection::open(state.path())
        .unwrap()
        .execute_batch("CREATE TABLE entry (x)")
        .unwrap();
    let content = std::fs::read(state.path()).unwrap();
    let text = text_of_failure(&state);
    assert!(text.contains("did not make"), "{text}");
    assert_eq!(std::fs::read(state.path()).unwrap(), content);
}

#[test]
fn a_folder_that_can_not_be_made_is_reported_and_used_once_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let obstacle = folder.path().join("file");
    std::fs::write(&obstacle, "in the way").unwrap();
    let state = StateStore::new(obstacle.join("state"))
        .namespace("notes")
        .unwrap();
    let text = text_of_failure(&state);
    assert!(
        text.contains("Not a directory") && text.contains("state_path"),
        "{text}"
    );
    std::fs::remove_file(&obstacle).unwrap();
    state.set("k", b"v", AMPLE).unwrap();
    assert_eq!(state.get("k", AMPLE).unwrap().as_deref(), Some(&b"v"[..]));
}

#[test]
fn a_folder_in_place_of_the_file_is_reported() {
    let (_folder, state) = fresh_namespace();
    std::fs::create_dir_all(state.path()).unwrap();
    let text = text_of_failure(&state);
    assert!(text.contains("unable to open"), "{text}");
}

#[test]
fn a_write_lock_that_is_never_given_back_ends_in_an_error_and_reading_goes_on() {
    let (_folder, state) = fresh_namespace();
    state.set("k", b"v", AMPLE).unwrap();
    let mut other = Connection::open(state.path()).unwrap();
    let lock = other
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    assert_eq!(state.get("k", AMPLE).unwrap().as_deref(), Some(&b"v"[..]));
    let Err(StateError::Unavailable(text)) = state.increment("n", 1, AMPLE) else {
        panic!("the lock was not respected");
    };
    assert!(text.contains("others kept it locked"), "{text}");
    drop(lock);
    assert_eq!(state.increment("n", 1, AMPLE), Ok(1));
}

#[test]
fn a_failed_write_leaves_the_store_as_it_was() {
    let (_folder, state) = fresh_namespace();
    state.set("k", b"v", AMPLE).unwrap();
    state
        .connections()
        .with(|open| {
            // A full disk, as far as this connection can tell.
            open.connection.pragma_update(None, "max_page_count", 1)?;
            Ok(())
        })
        .unwrap();
    let Err(StateError::Unavailable(text)) = state.set("big", &vec![0; 200_000], AMPLE) else {
        panic!("the disk was not full");
    };
    assert!(text.contains("full"), "{text}");
    assert_eq!(state.get("big", AMPLE), Ok(None));
    assert_eq!(state.usage(AMPLE).unwrap().used, 2);
    state.set("big", &vec![0; 200_000], AMPLE).unwrap();
}

//! What lies in the folder: files, modes, settings, connections.

use std::sync::{Arc, Barrier};

use rusqlite::Connection;

use super::super::{StateError, StateStore};
use super::{AMPLE, fresh_namespace, scanned_total};

#[test]
fn namespaces_see_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateStore::new(folder.path());
    let (lower, upper) = (
        store.namespace("notes").unwrap(),
        store.namespace("Notes").unwrap(),
    );
    lower.set("k", b"lower", AMPLE).unwrap();
    assert_eq!(upper.get("k", AMPLE), Ok(None));
    upper.set("k", b"upper", AMPLE).unwrap();
    assert_eq!(
        lower.get("k", AMPLE).unwrap().as_deref(),
        Some(&b"lower"[..])
    );
    assert_ne!(lower.path(), upper.path());
}

#[test]
fn a_name_that_could_lead_out_of_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = StateStore::new(folder.path())
        .namespace("../x")
        .unwrap_err();
    assert!(
        matches!(&error, StateError::Unavailable(text) if text.contains("`../x`")),
        "{error}"
    );
}

#[test]
fn state_outlives_the_store_that_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    StateStore::new(folder.path())
        .namespace("n")
        .unwrap()
        .set("k", b"v", AMPLE)
        .unwrap();
    let state = StateStore::new(folder.path()).namespace("n").unwrap();
    assert_eq!(state.get("k", AMPLE).unwrap().as_deref(), Some(&b"v"[..]));
}

#[test]
fn the_same_name_is_the_same_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateStore::new(folder.path());
    let first = store.namespace("n").unwrap();
    assert!(Arc::ptr_eq(&first, &store.namespace("n").unwrap()));
}

#[cfg(unix)]
#[test]
fn folder_and_files_belong_to_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, state) = fresh_namespace();
    state.set("k", b"v", AMPLE).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let folder = state.path().parent().unwrap();
    assert_eq!(mode(folder), 0o700);
    let files: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(
        files.len(),
        4,
        "database, log, index and queue were expected: {files:?}"
    );
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn every_commit_is_synced_in_wal_mode() {
    let (_folder, state) = fresh_namespace();
    state.set("k", b"v", AMPLE).unwrap();
    let setting = |name: &str| {
        let query = format!("PRAGMA {name}");
        state.connections().with(|open| {
            Ok(open
                .connection
                .query_row(&query, [], |row| row.get::<_, rusqlite::types::Value>(0))?)
        })
    };
    assert_eq!(
        setting("synchronous"),
        Ok(rusqlite::types::Value::Integer(2))
    );
    assert_eq!(setting("journal_mode"), Ok("wal".to_owned().into()));
}

#[test]
fn threads_lose_no_increment_and_leave_few_connections() {
    let (_folder, state) = fresh_namespace();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..25 {
                    state.increment("n", 1, AMPLE).unwrap();
                }
            });
        }
    });
    assert_eq!(state.get("n", AMPLE).unwrap().as_deref(), Some(&b"200"[..]));
    assert!(state.connections().idle_count() <= 2);
    assert_eq!(state.usage(AMPLE).unwrap().used, scanned_total(&state));
}

#[test]
fn of_all_threads_that_compare_and_set_one_wins_each_round() {
    let (_folder, state) = fresh_namespace();
    for round in 0..5u8 {
        let old = (round > 0).then(|| vec![round - 1]);
        let wins = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        state
                            .compare_and_set("k", old.as_deref(), Some(&[round]), AMPLE)
                            .unwrap()
                    })
                })
                .collect();
            tries
                .into_iter()
                .map(|won| won.join().unwrap())
                .filter(|won| *won)
                .count()
        });
        assert_eq!(wins, 1);
    }
}

#[cfg(unix)]
#[test]
fn removing_the_files_removes_the_state_also_under_an_open_store() {
    let (_folder, state) = fresh_namespace();
    state.set("old", b"v", AMPLE).unwrap();
    let folder = state.path().parent().unwrap();
    for file in folder.read_dir().unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    assert_eq!(state.get("old", AMPLE), Ok(None));
    state.set("new", b"v", AMPLE).unwrap();
    let other = Connection::open(state.path()).unwrap();
    let keys: i64 = other
        .query_row("SELECT count(*) FROM entry", [], |row| row.get(0))
        .unwrap();
    assert_eq!(keys, 1, "the change went into a file that nobody can see");
}

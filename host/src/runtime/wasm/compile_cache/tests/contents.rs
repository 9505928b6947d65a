//! How much is in a cache, for who asks again and again.

use super::{files, key, open};

#[test]
fn entries_are_counted_with_the_bytes_of_all_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"one", &[1; 500]);
    cache.store(&key(2), b"two", &[2; 700]);
    std::fs::write(folder.path().join("notes.txt"), [0; 10_000]).unwrap();
    let contents = cache.contents().unwrap();
    let notes = |path: &&std::path::PathBuf| !path.ends_with("notes.txt");
    let files = files(folder.path());
    let sizes = files
        .iter()
        .filter(notes)
        .map(|path| path.metadata().unwrap().len());
    assert_eq!((contents.entries, contents.bytes), (2, sizes.sum()));
}

#[test]
fn a_folder_is_not_walked_for_each_question() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"one", &[1; 500]);
    let first = cache.contents().unwrap();
    cache.store(&key(2), b"two", &[2; 700]);
    assert_eq!(cache.contents(), Some(first));
}

#[test]
fn a_cache_that_is_off_has_no_contents() {
    let cache = super::CompileCache::disabled("a test");
    assert_eq!(cache.contents(), None);
}

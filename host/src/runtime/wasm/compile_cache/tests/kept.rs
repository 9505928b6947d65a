//! What is stored comes back.

use std::os::unix::fs::PermissionsExt;

use wasmtime::Engine;
use wasmtime::component::Component;

use super::super::Statistics;
use super::{files, key, open, pair, read};

#[test]
fn an_entry_comes_back_to_this_and_to_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    assert_eq!(cache.lookup_descriptor(&key(1)), None);
    assert!(cache.open_code(&key(1)).is_none());
    let code = vec![7; 300_000];
    cache.store(&key(1), b"descriptor", &code);
    for cache in [cache, open(folder.path())] {
        assert_eq!(
            cache.lookup_descriptor(&key(1)).as_deref(),
            Some(&b"descriptor"[..])
        );
        assert_eq!(read(&cache.open_code(&key(1)).unwrap()), code);
        assert_eq!(cache.lookup_descriptor(&key(2)), None);
    }
}

#[test]
fn empty_content_is_content() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"", b"");
    assert_eq!(cache.lookup_descriptor(&key(1)), Some(Vec::new()));
    assert!(read(&cache.open_code(&key(1)).unwrap()).is_empty());
}

#[test]
fn a_descriptor_is_found_without_its_code() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"descriptor", b"code");
    std::fs::remove_file(pair(folder.path()).0).unwrap();
    assert!(cache.open_code(&key(1)).is_none());
    assert!(cache.lookup_descriptor(&key(1)).is_some());
    assert_eq!(cache.statistics().rejected, 0);
}

#[test]
fn storing_again_replaces_the_entry_and_leaves_nothing_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"old", b"old code");
    cache.store(&key(1), b"new", b"new code");
    pair(folder.path());
    assert_eq!(
        cache.lookup_descriptor(&key(1)).as_deref(),
        Some(&b"new"[..])
    );
    assert_eq!(read(&cache.open_code(&key(1)).unwrap()), b"new code");
}

#[test]
fn removing_an_entry_removes_its_files_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.store(&key(1), b"one", b"code one");
    cache.store(&key(2), b"two", b"code two");
    cache.remove(&key(1));
    cache.remove(&key(3));
    assert_eq!(files(folder.path()).len(), 2);
    assert_eq!(cache.lookup_descriptor(&key(1)), None);
    assert!(cache.open_code(&key(2)).is_some());
}

#[test]
fn what_happened_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    cache.lookup_descriptor(&key(1));
    cache.store(&key(1), b"descriptor", b"code");
    cache.lookup_descriptor(&key(1));
    cache.open_code(&key(1));
    std::fs::write(pair(folder.path()).0, b"CODE").unwrap();
    cache.open_code(&key(1));
    let expected = Statistics {
        hits: 2,
        misses: 2,
        rejected: 1,
        stored: 1,
        ..Statistics::default()
    };
    assert_eq!(cache.statistics(), expected);
}

#[test]
fn folder_and_files_belong_to_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("deep/cache");
    open(&folder).store(&key(1), b"descriptor", b"code");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("secret")), 0o600);
    for file in files(&folder) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn an_engine_loads_verified_code_even_after_its_entry_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let engine = Engine::default();
    // The smallest component: a header.
    let compiled = engine.precompile_component(b"\0asm\x0d\0\x01\0").unwrap();
    cache.store(&key(1), b"descriptor", &compiled);
    let code = cache.open_code(&key(1)).unwrap();
    cache.remove(&key(1));
    assert!(files(folder.path()).is_empty());
    // SAFETY: the file holds what the same engine compiled a moment ago, as just verified.
    let component = unsafe { Component::deserialize_file(&engine, code.path()) }.unwrap();
    drop(code);
    assert_eq!(component.component_type().exports(&engine).count(), 0);
}
